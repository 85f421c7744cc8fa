// The view and its filters, in the hash: `#/topics/orders/records?from=end`.

/** `{path: ['topics', 'orders', 'records'], query: {from: 'end'}}`. */
export function here() {
  const [path, query] = split(location.hash.replace(/^#\/?/, ''))
  const parts = path.split('/').filter(Boolean).map(decoded)
  return { path: parts, query: Object.fromEntries(new URLSearchParams(query)) }
}

export function link(path, query = {}) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== '' && value !== null && value !== undefined,
  )
  const text = new URLSearchParams(given).toString()
  return `#/${path.map(part => encodeURIComponent(part)).join('/')}${text && `?${text}`}`
}

export function go(path, query) {
  location.hash = link(path, query)
}

/** Changes the address without another view and without a step for the back button. */
export function note(path, query) {
  history.replaceState(null, '', link(path, query))
}

function split(text) {
  const at = text.indexOf('?')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** The text behind the hash may be anything: users type it. */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
