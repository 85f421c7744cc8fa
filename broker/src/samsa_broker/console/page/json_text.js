// Indents JSON without reading its values: numbers stay as they were written.

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g
const DEEPEST = 60
const CLOSING = { '{': '}', '[': ']' }

/** Null if it is no JSON object or array, or nested so deeply that the spaces would be most of it. */
export function indented(text) {
  if (!/^\s*[{[]/.test(text) || !isJson(text)) return null
  return lay(text.match(TOKEN) ?? [])
}

export function isJson(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function lay(tokens) {
  const parts = []
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [index, token] of tokens.entries()) {
    if (token in CLOSING) {
      parts.push(token)
      if (tokens[index + 1] === CLOSING[token]) continue
      depth += 1
      if (depth > DEEPEST) return null
      parts.push(line())
    } else if (token === '}' || token === ']') {
      if (tokens[index - 1] in CLOSING && CLOSING[tokens[index - 1]] === token) {
        parts.push(token)
        continue
      }
      depth -= 1
      parts.push(line(), token)
    } else if (token === ',') parts.push(token, line())
    else parts.push(token === ':' ? ': ' : token)
  }
  return parts.join('')
}
