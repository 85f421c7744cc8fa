// Numbers, sizes and times as people read them.

import { h } from './dom.js'

export const NOT_KNOWN = '–'
const THOUSANDS = ['', 'k', 'M', 'G', 'T', 'P', 'E']
const BYTES = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB']
const LEAST = 0.001
const LEAST_DOLLARS = 0.000001
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** All digits: 12,345. */
export function count(number) {
  return known(number) ? whole.format(number) : NOT_KNOWN
}

/** Three digits: 12.3 k. */
export function short(number) {
  return known(number) ? scaled(number, THOUSANDS) : NOT_KNOWN
}

export function bytes(number) {
  return known(number) ? scaled(number, BYTES) : NOT_KNOWN
}

/** Of a plot or a rate: `bytes/s`, `records`, `ms`, … */
export function quantity(number, unit) {
  if (!known(number)) return NOT_KNOWN
  if (unit.startsWith('bytes')) return bytes(number) + unit.slice('bytes'.length)
  if (unit === 'ms' && number >= 1000) return `${short(number / 1000)} s`
  return `${short(number)} ${unit}`.trim()
}

export function dollars(number) {
  if (!known(number)) return NOT_KNOWN
  if (number > 0 && number < LEAST_DOLLARS) return `< $${LEAST_DOLLARS.toFixed(6)}`
  const places = number !== 0 && Math.abs(number) < 0.01 ? 6 : 2
  return `$${number.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: places })}`
}

export function duration(seconds) {
  if (!known(seconds)) return NOT_KNOWN
  const parts = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ]
  const first = Math.max(
    0,
    parts.findIndex(([size]) => seconds >= size),
  )
  if (seconds < 1) return `${round(seconds)} s`
  let left = Math.floor(seconds)
  return parts
    .slice(first, first + 2)
    .map(([size, unit]) => {
      const number = Math.floor(left / size)
      left -= number * size
      return number ? `${number} ${unit}` : ''
    })
    .filter(Boolean)
    .join(' ')
}

/** A moment in local time, with the exact one in its title. */
export function moment(ms) {
  if (!known(ms) || ms < 0) return h('span', {}, NOT_KNOWN)
  return h('time', { datetime: iso(ms), title: exact(ms) }, local(ms))
}

export function local(ms) {
  if (!known(ms) || ms < 0 || Number.isNaN(new Date(ms).getTime())) return NOT_KNOWN
  const date = new Date(ms)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms)}`
}

export function clock(ms) {
  const date = new Date(ms)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** For a tooltip beside `local`; none if there is no time. */
export function exact(ms) {
  return known(ms) && ms >= 0 ? `${iso(ms)}, ${ms} ms since 1970` : null
}

/** In UTC. Kafka takes timestamps that no calendar has. */
export function iso(ms) {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms since 1970` : date.toISOString()
}

/** "1 topic", "2 topics". */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`
}

function known(number) {
  return typeof number === 'number' && Number.isFinite(number)
}

function scaled(number, units) {
  let value = Math.abs(number)
  let unit = 0
  while (Number(value.toPrecision(3)) >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  const sign = number < 0 ? '-' : ''
  return `${sign}${round(value)} ${units[unit]}`.trim()
}

function round(value) {
  if (value > 0 && value < LEAST) return `< ${LEAST}`
  return String(Number(value.toPrecision(3)))
}

function two(number) {
  return String(number).padStart(2, '0')
}
