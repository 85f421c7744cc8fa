// One record, whole: what it holds, and what can be done with it.

import { bytesOf, preview, shown, textOf, base64 } from './content.js'
import { facts } from './dialog.js'
import { h, hiddenButton } from './dom.js'
import { bytes, count, moment } from './format.js'
import { link } from './place.js'
import { copyButton, save } from './saving.js'

export function details(record, { topic, format, write, whole }) {
  const { partition, offset, truncated, valueBytes } = record
  const list = facts()
  list.update(described(record))
  const beside = [
    copyButton('Copy the value', () => shown(valueBytes, copyable(valueBytes, format), truncated)),
    h(
      'a',
      { class: 'button', href: whole, download: `${topic}-${partition}-${offset}` },
      'Download the value',
    ),
    copyButton('Copy the record as JSON', () => JSON.stringify(portable(record), null, 2)),
    write && h('button', { type: 'button', on: { click: () => write(record) } }, 'Write a copy…'),
    h(
      'a',
      { href: link(['topics', topic, 'records'], { partition, from: offset, limit: 1 }) },
      'Link to it',
    ),
  ]
  return h(
    'div',
    { class: 'record' },
    list.element,
    part('Key', record.keyBytes, format, truncated),
    part('Value', valueBytes, format, truncated),
    truncated &&
      h(
        'p',
        { class: 'note' },
        `This record is longer than what is shown here (${bytes(record.size)}). Download the value to see all of it.`,
      ),
    headers(record.headers, format),
    h('div', { class: 'buttons' }, beside),
  )
}

/** As the HTTP API takes it, so that a file of them can be written again. */
export function portable(record) {
  const told = record.truncated ? { truncated: true } : {}
  return {
    partition: record.partition,
    offset: record.offset,
    timestamp: record.timestamp,
    key: written(record.keyBytes),
    value: written(record.valueBytes),
    headers: record.headers.map(each => ({ name: each.name, value: written(bytesOf(each.value)) })),
    ...told,
  }
}

/** `records` is called when the button is pressed. */
export function saveButton(topic, records) {
  return hiddenButton('Download these records', () =>
    save(
      `${topic}.ndjson`,
      records().map(record => `${JSON.stringify(portable(record))}\n`),
      'application/x-ndjson',
    ),
  )
}

function described({ partition, offset, timestamp, size, transactional, headers: given }) {
  return [
    ['partition', count(partition)],
    ['offset', String(offset)],
    ['time', moment(timestamp)],
    ['size', bytes(size)],
    ['headers', count(given.length)],
    ['in a transaction', transactional ? 'yes' : 'no'],
  ]
}

function part(title, content, format, isCut) {
  const text = shown(content, format, isCut)
  return h(
    'div',
    {},
    h('h3', {}, title),
    h(
      'pre',
      {
        tabindex: '0',
        role: 'region',
        'aria-label': title,
        class: content === null ? 'null' : null,
        dir: 'auto',
      },
      text,
    ),
  )
}

function headers(given, format) {
  if (!given.length) return null
  const rows = given.map(each =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', {}, each.name)),
      h('td', { class: 'mono' }, h('bdi', {}, preview(bytesOf(each.value), format))),
    ),
  )
  return h(
    'div',
    {},
    h('h3', {}, 'Headers'),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Headers' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h('tr', {}, h('th', { scope: 'col' }, 'name'), h('th', { scope: 'col' }, 'value')),
        ),
        h('tbody', {}, rows),
      ),
    ),
  )
}

function written(content) {
  if (content === null) return null
  const text = textOf(content)
  return text === null ? { base64: base64(content) } : { text }
}

/** A copy has no spaces that were added for reading. */
function copyable(content, format) {
  if (format !== 'auto' && format !== 'json') return format
  return content !== null && textOf(content) !== null ? 'text' : format
}
