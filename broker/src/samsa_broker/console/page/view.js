// What a view has for as long as it is shown: its place, its element, and a signal that ends its work.

import { isLost, reach, Refusal, Unreachable } from './api.js'
import { h, replace, setText } from './dom.js'

export class View {
  #ending = new AbortController()
  #loading = 0

  constructor(element, place) {
    this.element = element
    this.path = place.path
    this.query = place.query
  }

  /** Aborted when the view is left. */
  get signal() {
    return this.#ending.signal
  }

  leave() {
    this.#ending.abort()
  }

  title(text, ...beside) {
    document.title = `${text} – Samsa`
    this.heading = h('h1', { tabindex: '-1' }, ...(beside.length ? beside : [text]))
    return this.heading
  }

  /**
   * Loads now and every so often; not while the page is hidden, and at once when it is seen again or
   * the broker is found again. `place` shows why it failed.
   */
  every(ms, load, place) {
    let first = this.#busily(() => attempted(load, place, this.signal))
    const loop = new Repeating(ms, this.signal, () => {
      const act = first ?? (() => attempted(load, place, this.signal))
      first = null
      return act()
    })
    loop.begin()
    return () => loop.now()
  }

  /** An act of the user: its failure is told beside it. */
  act(place, work) {
    return this.#busily(() => attempted(work, place, this.signal, true))()
  }

  /** The view is marked as busy from now on until this was done once. */
  #busily(act) {
    this.#count(1)
    return async () => {
      try {
        return await act()
      } finally {
        this.#count(-1)
      }
    }
  }

  #count(by) {
    this.#loading += by
    this.element.ariaBusy = this.#loading ? 'true' : null
  }
}

/** Where a failure is told. It is empty as long as there is none. */
export function problem() {
  return h('div', { class: 'problem', role: 'alert', hidden: true })
}

export function tell(place, error) {
  const text = error instanceof Refusal ? error.message : String(error.message ?? error)
  if (place.firstChild) {
    setText(place.firstChild, text)
    setText(place.lastChild, error.nextStep ?? '')
  } else replace(place, h('p', {}, text), h('p', { class: 'next' }, error.nextStep ?? ''))
  place.hidden = false
}

export function calm(place) {
  place.hidden = true
  replace(place)
}

/** Whether it went well. */
async function attempted(work, place, signal, isAct = false) {
  try {
    await work(signal)
    calm(place)
    return true
  } catch (error) {
    if (signal.aborted) return false
    if (!(error instanceof Refusal || error instanceof Unreachable)) console.error(error)
    if (!(error instanceof Unreachable) || isAct) tell(place, error)
    return false
  }
}

class Repeating {
  #timer = null
  #busy = false
  #again = false

  constructor(ms, signal, act) {
    this.ms = ms
    this.signal = signal
    this.act = act
  }

  begin() {
    const options = { signal: this.signal }
    document.addEventListener('visibilitychange', () => this.now(), options)
    reach.addEventListener('found', () => this.now(), options)
    this.signal.addEventListener('abort', () => clearTimeout(this.#timer))
    this.now()
  }

  async now() {
    if (this.signal.aborted || document.hidden) return
    if (this.#busy) {
      this.#again = true
      return
    }
    clearTimeout(this.#timer)
    this.#busy = true
    this.#again = false
    await this.act()
    this.#busy = false
    if (this.signal.aborted) return
    this.#timer = setTimeout(() => this.now(), this.#again && !isLost() ? 0 : this.ms)
  }
}
