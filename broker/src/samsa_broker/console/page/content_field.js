// A field for a key or a value: text, JSON, any bytes in base64, or null.

import { base64, textOf } from './content.js'
import { field } from './form.js'
import { isJson } from './json_text.js'

const KINDS = [
  ['text', 'text'],
  ['json', 'JSON (checked)'],
  ['base64', 'base64'],
  ['null', 'null'],
]
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** `fields` are for a form; `told()` is what the HTTP API takes. */
export function contentField(id, label, bytes, { lines, isNullIfEmpty = false }) {
  const kind = field(`${id}-kind`, `${label} is`, { options: KINDS, value: kindOf(bytes) })
  const text = field(id, label, {
    lines,
    value: written(bytes),
    hint: isNullIfEmpty ? 'null, if empty' : undefined,
    check: each => wrong(each, kind.value),
  })
  const show = () => {
    text.element.hidden = kind.value === 'null'
  }
  kind.input.addEventListener('change', show)
  show()
  const isNull = () => kind.value === 'null' || (isNullIfEmpty && text.value === '')
  return { fields: [kind, text], told: () => (isNull() ? null : told(text.value, kind.value)) }
}

function kindOf(bytes) {
  if (bytes === null) return 'null'
  return textOf(bytes) === null ? 'base64' : 'text'
}

function written(bytes) {
  return bytes === null ? '' : (textOf(bytes) ?? base64(bytes))
}

function wrong(text, kind) {
  if (kind === 'json' && !isJson(text)) return 'This is no JSON.'
  if (kind === 'base64' && !BASE64.test(text.trim())) return 'This is no base64.'
  return ''
}

/** JSON goes as the text that it is: its numbers keep their digits. */
function told(text, kind) {
  return kind === 'base64' ? { base64: text.trim() } : { text }
}
