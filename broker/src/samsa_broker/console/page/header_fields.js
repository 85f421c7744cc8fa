// Fields for the headers of a record, as many as there are.

import { base64, bytesOf, textOf } from './content.js'
import { h } from './dom.js'

/** `given` are headers of a record that is copied. */
export function headerFields(given) {
  const rows = []
  const place = h('div', { class: 'headers' })
  const add = header => {
    const row = new HeaderRow(rows.length + 1, header)
    rows.push(row)
    place.append(row.element)
    return row
  }
  given.forEach(add)
  const more = h('button', { type: 'button', on: { click: () => add().name.focus() } })
  more.textContent = 'Add a header'
  return {
    element: h('fieldset', {}, h('legend', {}, 'Headers'), place, more),
    told: () => rows.filter(row => row.element.isConnected).map(row => row.told()),
  }
}

class HeaderRow {
  constructor(number, header) {
    this.bytes = header ? bytesOf(header.value) : new Uint8Array()
    this.shown = this.bytes === null ? '' : (textOf(this.bytes) ?? base64(this.bytes))
    this.name = input(`Name of header ${number}`, 'name', header?.name ?? '')
    this.value = input(`Value of header ${number}`, 'value', this.shown)
    const remove = h('button', { type: 'button', on: { click: () => this.element.remove() } })
    remove.textContent = 'Remove'
    this.element = h('div', { class: 'row' }, this.name, this.value, remove)
  }

  /** Values that were not edited stay as they were, byte by byte. */
  told() {
    const isChanged = this.value.value !== this.shown
    const same = this.bytes === null ? null : { base64: base64(this.bytes) }
    return { name: this.name.value, value: isChanged ? this.value.value : same }
  }
}

function input(label, placeholder, value) {
  return h('input', { 'aria-label': label, placeholder, value })
}
