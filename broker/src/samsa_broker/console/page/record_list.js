// Records as rows that open: browsing, searching and the live tail all show them so.

import { path, root } from './api.js'
import { bytesOf, preview } from './content.js'
import { h } from './dom.js'
import { bytes, count, moment } from './format.js'
import { details } from './record_details.js'

const HEADS = [
  ['', 'open'],
  ['time', 'when'],
  ['partition', 'number small'],
  ['offset', 'number at'],
  ['key', 'key'],
  ['value', ''],
  ['size', 'number small wide'],
]

export class RecordList {
  #shown = new Map()

  /** `write(record)` opens the form that writes a copy. `most` rows are kept. */
  constructor(topic, format, { most = Infinity, write = null } = {}) {
    this.topic = topic
    this.format = format
    this.most = most
    this.write = write
    this.body = h('tbody')
    const heads = HEADS.map(([head, kind]) =>
      h('th', { scope: 'col', class: kind }, head || h('span', { class: 'unseen' }, 'details')),
    )
    const shown = h(
      'table',
      { class: 'records' },
      h('caption', { class: 'unseen' }, 'Records'),
      h('thead', {}, h('tr', {}, heads)),
      this.body,
    )
    this.element = h(
      'div',
      {
        class: 'scroll tall',
        tabindex: '0',
        role: 'region',
        'aria-label': 'Records',
        hidden: true,
      },
      shown,
    )
  }

  get records() {
    return [...this.#shown.values()].map(row => row.record)
  }

  get size() {
    return this.#shown.size
  }

  append(records) {
    this.#put(records, elements => this.body.append(...elements))
  }

  /** The newest are on top; the oldest go, unless they are open. */
  prepend(records) {
    this.#put(records.slice(-this.most), elements => this.body.prepend(...elements.reverse()))
    for (const [key, row] of this.#shown) {
      if (this.#shown.size <= this.most) break
      if (!row.isOpen) this.#drop(key, row)
    }
  }

  clear() {
    this.#shown.clear()
    this.body.replaceChildren()
    this.element.hidden = true
  }

  setFormat(format) {
    this.format = format
    for (const row of this.#shown.values()) row.draw()
  }

  #put(records, place) {
    const fresh = records
      .filter(record => !this.#shown.has(keyOf(record)))
      .map(record => new Row(record, this))
    for (const row of fresh) this.#shown.set(keyOf(row.record), row)
    place(fresh.flatMap(row => row.element))
    this.element.hidden = this.#shown.size === 0
  }

  #drop(key, row) {
    row.element.remove()
    this.#shown.delete(key)
  }
}

class Row {
  constructor(record, list) {
    this.list = list
    this.record = { ...record, keyBytes: bytesOf(record.key), valueBytes: bytesOf(record.value) }
    this.more = null
    this.button = h('button', {
      type: 'button',
      class: 'expand',
      'aria-expanded': 'false',
      on: { click: () => this.toggle() },
    })
    this.button.setAttribute(
      'aria-label',
      `Details of partition ${record.partition}, offset ${record.offset}`,
    )
    this.key = h('td', { class: 'mono key' })
    this.value = h('td', { class: 'mono value' })
    this.element = h(
      'tr',
      {},
      h('td', { class: 'open' }, this.button),
      h('td', { class: 'when' }, moment(record.timestamp)),
      h('td', { class: 'number' }, count(record.partition)),
      h('td', { class: 'number' }, String(record.offset)),
      this.key,
      this.value,
      h('td', { class: 'number wide' }, bytes(record.size)),
    )
    this.draw()
  }

  get isOpen() {
    return this.more !== null
  }

  draw() {
    const { keyBytes, valueBytes, truncated } = this.record
    this.key.replaceChildren(inRow(keyBytes, this.list.format, truncated))
    this.value.replaceChildren(inRow(valueBytes, this.list.format, truncated))
    if (this.more) this.more.firstChild.replaceChildren(this.#details())
  }

  toggle() {
    if (this.more) {
      this.more.remove()
      this.more = null
    } else {
      this.more = h('tr', { class: 'details' }, h('td', { colspan: HEADS.length }, this.#details()))
      this.element.after(this.more)
    }
    this.button.setAttribute('aria-expanded', String(this.isOpen))
  }

  #details() {
    const { topic, format, write } = this.list
    const { partition, offset } = this.record
    const whole = root(path('topics', topic, 'partitions', partition, 'records', offset, 'value'))
    return details(this.record, { topic, format, write, whole })
  }
}

function inRow(content, format, isCut) {
  if (content === null) return h('i', { class: 'null' }, 'null')
  return h('bdi', {}, preview(content, format, isCut))
}

function keyOf({ partition, offset }) {
  return `${partition}:${offset}`
}
