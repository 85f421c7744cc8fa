// Requests to the broker: JSON, streams of lines, and whether it is reachable at all.

const TIMEOUT_MS = 30_000
const GATEWAY = new Set([502, 504])
/** Tells `lost` and `found`. */
export const reach = new EventTarget()
let lostSince = null

/** The broker refused, in its own words. */
export class Refusal extends Error {
  constructor(status, detail, nextStep) {
    super(detail)
    this.status = status
    this.nextStep = nextStep
  }
}

/** No answer came. The banner says so; parts of the page keep what they have. */
export class Unreachable extends Error {}

export function isLost() {
  return lostSince !== null
}

/** `api/…` of the console. */
export function own(path, query) {
  return url(`api/${path}`, query)
}

/** A route of the HTTP API or of the schema registry, which are beside the console. */
export function root(path, query) {
  return url(`../${path}`, query)
}

/** A path whose parts may hold any character. */
export function path(...parts) {
  return parts.map(part => encodeURIComponent(part)).join('/')
}

export async function get(address, signal) {
  return json(address, { signal: within(signal) })
}

export async function send(method, address, body, signal) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const sent = body === undefined ? undefined : JSON.stringify(body)
  return json(address, { method, headers, body: sent, signal: within(signal) })
}

/** Each line of a stream, parsed. Ends with the stream, or with the signal. */
export async function* lines(address, signal) {
  const answer = await ask(address, { signal })
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reaching(() => reader.read(), signal)
      if (done) return
      const parts = (rest + value).split('\n')
      rest = parts.pop()
      for (const part of parts) if (part) yield parsed(part)
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

function url(relative, query = {}) {
  const address = new URL(relative, document.baseURI)
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') address.searchParams.set(key, value)
  }
  return address
}

function within(signal) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

async function ask(address, options) {
  const answer = await reaching(() => fetch(address, options), options.signal)
  if (GATEWAY.has(answer.status)) throw unreachable()
  found()
  if (!answer.ok) throw await refusal(answer)
  return answer
}

/** A view that was left ends its own requests: that says nothing about the broker. */
async function reaching(act, signal) {
  try {
    return await act()
  } catch (error) {
    if (signal?.aborted && signal.reason?.name !== 'TimeoutError') throw error
    throw unreachable()
  }
}

async function json(address, options) {
  const answer = await ask(address, options)
  const text = await reaching(() => answer.text(), options.signal)
  return text ? parsed(text) : null
}

/** Integers that no number of JavaScript can hold keep their digits, where the browser can do that. */
function parsed(text) {
  if (!JSON.rawJSON) return JSON.parse(text)
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? JSON.rawJSON(source)
      : value,
  )
}

async function refusal(answer) {
  const told = await answer.json().catch(() => ({}))
  // A schema registry tells `message`, the HTTP API `detail`.
  const detail = told.detail ?? told.message ?? `The broker answered with ${answer.status}.`
  return new Refusal(answer.status, String(detail), nextStep(answer.status, told))
}

function nextStep(status, told) {
  if (status === 401) return 'Reload the page to log in again.'
  return told.next_step ?? ''
}

function unreachable() {
  if (lostSince === null) {
    lostSince = Date.now()
    reach.dispatchEvent(new CustomEvent('lost', { detail: lostSince }))
  }
  return new Unreachable('The broker is not reachable.')
}

function found() {
  if (lostSince === null) return
  lostSince = null
  reach.dispatchEvent(new Event('found'))
}
