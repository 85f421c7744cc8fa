// From which record on: the fields that all ways to read share, and what the broker is asked.

import { h } from './dom.js'
import { field, wholeNumber } from './form.js'

const PLACES = [
  ['end', 'the newest'],
  ['beginning', 'the oldest'],
  ['offset', 'an offset'],
  ['time', 'a time'],
]
const MOST_PARTITION = 99_999

export function partitionField(value = 'all') {
  return field('partition', 'Partition', {
    value,
    size: 6,
    hint: 'all, or a number',
    check: checkPartition,
  })
}

function checkPartition(text) {
  if (text.trim() === 'all') return ''
  return wholeNumber(0, MOST_PARTITION)(text) && 'Write all, or the number of a partition.'
}

/** `from` of the address: beginning, end, an offset, or @ and milliseconds. */
export class FromField {
  constructor(from = 'end', { id = 'from', label = 'From', places = PLACES } = {}) {
    const [kind, value] = parsed(from)
    this.kind = field(id, label, { options: places, value: kind })
    this.offset = field(`${id}-offset`, 'Offset', {
      value: kind === 'offset' ? value : '',
      inputmode: 'numeric',
      check: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'An offset'),
    })
    this.time = field(`${id}-time`, 'Time (local)', {
      value: kind === 'time' ? value : '',
      type: 'datetime-local',
      step: '1',
      check: checkTime,
    })
    this.element = h(
      'div',
      { class: 'together' },
      this.kind.element,
      this.offset.element,
      this.time.element,
    )
    this.kind.input.addEventListener('change', () => this.#show())
    this.#show()
  }

  get input() {
    return this.kind.value === 'time' ? this.time.input : this.offset.input
  }

  get value() {
    if (this.kind.value === 'offset') return this.offset.value.trim()
    if (this.kind.value === 'time') return `@${new Date(this.time.value).getTime()}`
    return this.kind.value
  }

  isGood() {
    const asked = { offset: this.offset, time: this.time }[this.kind.value]
    return asked ? asked.isGood() : true
  }

  #show() {
    this.offset.element.hidden = this.kind.value !== 'offset'
    this.time.element.hidden = this.kind.value !== 'time'
  }
}

function parsed(from) {
  if (/^\d+$/.test(from)) return ['offset', from]
  if (/^@\d+$/.test(from)) return ['time', forInput(Number(from.slice(1)))]
  return [from === 'beginning' || from === '' ? from : 'end', '']
}

function checkTime(text) {
  return Number.isNaN(new Date(text).getTime()) || text === '' ? 'Choose a day and a time.' : ''
}

/** As a field of a local time takes it. */
function forInput(ms) {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
