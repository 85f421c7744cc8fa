// A plot of an hour: lines with gaps where nothing was measured, read by mouse, keys, or as a table.

import { h, setText, svg } from './dom.js'
import { clock, iso, local, quantity, short } from './format.js'
import { chartTable } from './chart_table.js'
import { largest, linear, moments, newest, roundTicks, runs, timeTicks } from './scale.js'

const HEIGHT = 168
const MARGIN = { top: 8, right: 12, bottom: 22, left: 66 }
const STYLES = 8
const MOST_IN_LEGEND = 10
const STEPS = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -30,
  PageDown: 30,
  Home: -Infinity,
  End: Infinity,
}
let made = 0

export function chart(title, signal) {
  return new Chart(title, signal)
}

class Chart {
  series = []
  moments = []
  unit = ''
  newest = undefined
  /** The moment that is read; null reads the newest of which something is known. */
  at = null

  constructor(title, signal) {
    this.title = title
    const id = `chart-${(made += 1)}`
    this.measure = h('span', { class: 'hint' })
    this.readAt = h('span', { class: 'at' })
    this.legend = h('ul', { class: 'legend' })
    this.plot = h('div', {
      class: 'plot',
      tabindex: '0',
      role: 'slider',
      'aria-labelledby': id,
      'aria-valuemin': '0',
      'aria-valuemax': '0',
      'aria-valuenow': '0',
      'aria-orientation': 'horizontal',
      on: {
        keydown: event => this.#key(event),
        blur: () => this.#read(null),
        pointermove: event => this.#point(event),
        pointerleave: () => this.#read(null),
      },
    })
    this.table = chartTable(title)
    const caption = h(
      'figcaption',
      {},
      h('span', { class: 'title', id }, title),
      this.measure,
      this.readAt,
    )
    this.element = h(
      'figure',
      { class: 'chart' },
      caption,
      this.plot,
      this.legend,
      this.table.element,
    )
    this.#redrawOnResize(signal)
  }

  /** `[{name, points: [[ms, value or null], …]}]` */
  update(series, unit) {
    const last = this.at !== null && this.at === this.moments.at(-1)
    this.series = series
    this.unit = unit
    setText(this.measure, isInTicks(unit) ? '' : unit)
    this.moments = moments(series)
    this.newest = newest(series) ?? this.moments.at(-1)
    if (last) this.at = this.moments.at(-1)
    this.#draw()
    this.#legend()
    this.table.update(series, unit, this.moments)
  }

  #redrawOnResize(signal) {
    const watch = new ResizeObserver(() => this.#draw())
    watch.observe(this.plot)
    signal.addEventListener('abort', () => watch.disconnect())
  }

  #draw() {
    const width = this.plot.clientWidth
    if (!width) return
    const ticks = roundTicks(largest(this.series))
    const [from, to] = [this.moments[0] ?? 0, this.moments.at(-1) ?? 1]
    this.x = linear([from, to], [MARGIN.left, width - MARGIN.right])
    this.y = linear([0, ticks.at(-1)], [HEIGHT - MARGIN.bottom, MARGIN.top])
    this.cursor = svg('line', {
      class: 'cursor',
      y1: MARGIN.top,
      y2: HEIGHT - MARGIN.bottom,
      visibility: 'hidden',
    })
    const parts = [
      this.#values(ticks, width),
      this.#times(from, to, width),
      this.#lines(),
      this.cursor,
    ]
    const nothing = largest(this.series) === 0 && !this.#isKnown() && this.#nothing(width)
    this.plot.replaceChildren(
      svg('svg', { width, height: HEIGHT, 'aria-hidden': 'true' }, parts, nothing),
    )
    this.#showRead()
  }

  #isKnown() {
    return this.series.some(({ points }) => points.some(([, value]) => value !== null))
  }

  #nothing(width) {
    return svg('text', { class: 'nothing', x: width / 2, y: HEIGHT / 2 }, 'nothing measured yet')
  }

  #values(ticks, width) {
    return ticks.flatMap(tick => [
      svg('line', {
        class: 'grid',
        x1: MARGIN.left,
        x2: width - MARGIN.right,
        y1: this.y(tick),
        y2: this.y(tick),
      }),
      svg(
        'text',
        { class: 'tick value', x: MARGIN.left - 6, y: this.y(tick) + 4 },
        isInTicks(this.unit) ? quantity(tick, this.unit) : short(tick),
      ),
    ])
  }

  #times(from, to, width) {
    if (!this.moments.length) return []
    const ticks = timeTicks(from, to, Math.max(2, width / 90))
    const digits = ticks.every(ms => ms % 60_000 === 0) ? 5 : 8
    return ticks.map(ms =>
      svg('text', { class: 'tick time', x: this.x(ms), y: HEIGHT - 5 }, clock(ms).slice(0, digits)),
    )
  }

  #lines() {
    return this.series.flatMap(({ points }, number) =>
      runs(points).map(run => this.#line(run, style(number))),
    )
  }

  #line(run, kind) {
    const places = run.map(([ms, value]) => `${this.x(ms).toFixed(1)},${this.y(value).toFixed(1)}`)
    if (places.length > 1)
      return svg('polyline', { class: `line ${kind}`, points: places.join(' ') })
    const [cx, cy] = places[0].split(',')
    return svg('circle', { class: `dot ${kind}`, cx, cy, r: 1.5 })
  }

  #legend() {
    const shown = this.series.slice(0, MOST_IN_LEGEND)
    const isSame =
      shown.length === this.legend.querySelectorAll('bdi').length &&
      shown.every(
        ({ name }, number) =>
          this.legend.children[number].querySelector('bdi').textContent === name,
      )
    if (!isSame)
      this.legend.replaceChildren(
        ...shown.map(({ name }, number) => entry(name, number)),
        ...this.#more(),
      )
    this.#showRead()
  }

  #more() {
    const more = this.series.length - MOST_IN_LEGEND
    return more > 0 ? [h('li', {}, `and ${more} more, in the table`)] : []
  }

  #key(event) {
    if (!(event.key in STEPS) || !this.moments.length) return
    event.preventDefault()
    const now = nearest(this.moments, this.at ?? this.newest)
    const next = Math.min(this.moments.length - 1, Math.max(0, now + STEPS[event.key]))
    this.#read(this.moments[next])
  }

  #point(event) {
    if (!this.moments.length || !this.x) return
    const left = event.clientX - this.plot.getBoundingClientRect().left
    const [start, end] = [this.x(this.moments[0]), this.x(this.moments.at(-1))]
    const share = end > start ? (left - start) / (end - start) : 1
    const wanted = this.moments[0] + share * (this.moments.at(-1) - this.moments[0])
    this.#read(this.moments[nearest(this.moments, wanted)])
  }

  #read(ms) {
    this.at = ms
    this.#showRead()
  }

  #showRead() {
    const ms = this.at ?? this.newest
    const index = ms === undefined ? 0 : nearest(this.moments, ms)
    const told = this.series.slice(0, MOST_IN_LEGEND).map(({ name, points }, number) => {
      const value = quantity(valueAt(points, ms), this.unit)
      const place = this.legend.children[number]?.querySelector('.value')
      if (place) setText(place, value)
      return `${name}: ${value}`
    })
    setText(
      this.readAt,
      ms === undefined ? '' : this.at === null ? `last at ${clock(ms)}` : `at ${clock(ms)}`,
    )
    this.readAt.title = ms === undefined ? '' : iso(ms)
    this.plot.setAttribute('aria-valuemax', Math.max(0, this.moments.length - 1))
    this.plot.setAttribute('aria-valuenow', index)
    this.plot.setAttribute(
      'aria-valuetext',
      ms === undefined ? 'nothing measured yet' : `${local(ms)}. ${told.join(', ')}`,
    )
    this.#showCursor()
  }

  #showCursor() {
    if (!this.cursor) return
    this.cursor.setAttribute('visibility', this.at === null ? 'hidden' : 'visible')
    if (this.at === null) return
    const x = this.x(this.at)
    this.cursor.setAttribute('x1', x)
    this.cursor.setAttribute('x2', x)
  }
}

/** Other units are too long to stand at each line. */
function isInTicks(unit) {
  return unit.startsWith('bytes') || unit === 'ms'
}

function style(number) {
  return `s${number % STYLES}`
}

function entry(name, number) {
  const sample = svg(
    'svg',
    { class: 'sample', width: 26, height: 8, 'aria-hidden': 'true' },
    svg('line', { class: `line ${style(number)}`, x1: 0, x2: 26, y1: 4, y2: 4 }),
  )
  return h('li', {}, sample, h('bdi', {}, name), ' ', h('span', { class: 'value' }))
}

function valueAt(points, ms) {
  return points.find(point => point[0] === ms)?.[1] ?? null
}

/** The index of the moment that is nearest to it. */
function nearest(sorted, ms) {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < ms) low = middle + 1
    else high = middle
  }
  return low > 0 && ms - sorted[low - 1] < sorted[low] - ms ? low - 1 : low
}
