// Keys, values and headers: bytes, and how they are shown. The broker is asked for base64, so that
// every form is made of the bytes as they are: numbers of JSON keep all their digits. Only what a
// schema describes is shown as the broker decodes it.

import { indented } from './json_text.js'

export const FORMATS = [
  ['auto', 'auto'],
  ['json', 'JSON'],
  ['text', 'text'],
  ['hex', 'hex'],
  ['base64', 'base64'],
]
export const BY_SCHEMA = ['schema', 'by schema']
const BYTES_PER_LINE = 16
const PREVIEW = 240
const UNPRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f]/

/** The form in which the broker is asked for records. */
export function asked(format) {
  return format === BY_SCHEMA[0] ? 'auto' : 'base64'
}

/** Of `{base64}`, `{text}`, `{hex}` or `{json}`; null stays null. */
export function bytesOf(content) {
  if (content === null || content === undefined) return null
  if (content.base64 !== undefined)
    return Uint8Array.from(atob(content.base64), each => each.charCodeAt(0))
  if (content.hex !== undefined)
    return Uint8Array.from(content.hex.match(/../g) ?? [], each => parseInt(each, 16))
  const text = content.text !== undefined ? content.text : JSON.stringify(content.json)
  return new TextEncoder().encode(text)
}

/** What is shown whole: indented if it is JSON. */
export function shown(bytes, format, isCut = false) {
  if (bytes === null) return 'null'
  if (format === 'hex') return dump(bytes)
  if (format === 'base64') return base64(bytes)
  const text = textOf(bytes, isCut)
  if (text === null) return format === 'auto' || format === 'json' ? dump(bytes) : lossy(bytes)
  if (format === 'text' || isCut) return text
  return indented(text) ?? text
}

/** One line of it, for a row of a table. */
export function preview(bytes, format, isCut = false) {
  if (bytes === null) return 'null'
  const few = bytes.subarray(0, PREVIEW * 4)
  const whole = shownInRow(few, format, isCut || few.length < bytes.length).replace(/\s+/g, ' ')
  return whole.length > PREVIEW ? `${Array.from(whole).slice(0, PREVIEW).join('')}…` : whole
}

/** As text, if it is UTF-8; `isCut` forgives a last character that is not whole. */
export function textOf(bytes, isCut = false) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: isCut,
    })
    return UNPRINTABLE.test(text) ? null : text
  } catch {
    return null
  }
}

export function base64(bytes) {
  let text = ''
  for (const each of bytes) text += String.fromCharCode(each)
  return btoa(text)
}

function shownInRow(bytes, format, isCut) {
  if (format === 'base64') return base64(bytes)
  const text = format === 'hex' ? null : textOf(bytes, isCut)
  if (text !== null) return text
  return format === 'text' ? lossy(bytes) : hex(bytes)
}

function lossy(bytes) {
  return new TextDecoder().decode(bytes)
}

function hex(bytes) {
  return Array.from(bytes, each => each.toString(16).padStart(2, '0')).join(' ')
}

/** As `hexdump -C` has it. */
function dump(bytes) {
  const lines = []
  for (let at = 0; at < bytes.length; at += BYTES_PER_LINE) {
    const line = bytes.subarray(at, at + BYTES_PER_LINE)
    const letters = Array.from(line, each =>
      each >= 32 && each < 127 ? String.fromCharCode(each) : '.',
    ).join('')
    lines.push(
      `${at.toString(16).padStart(8, '0')}  ${hex(line).padEnd(BYTES_PER_LINE * 3)} ${letters}`,
    )
  }
  return lines.join('\n')
}
