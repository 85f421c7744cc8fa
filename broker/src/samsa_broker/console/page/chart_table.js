// The numbers of a plot as a table, made when it is opened.

import { h } from './dom.js'
import { iso, local, quantity } from './format.js'

const MOST_ROWS = 360

export function chartTable(title) {
  return new ChartTable(title)
}

class ChartTable {
  #latest = null

  constructor(title) {
    this.title = title
    this.place = h('div', {
      class: 'scroll',
      tabindex: '0',
      role: 'region',
      'aria-label': `${title}, as a table`,
    })
    const summary = h('summary', {}, 'Show as table', h('span', { class: 'unseen' }, `: ${title}`))
    this.element = h('details', { on: { toggle: () => this.#show() } }, summary, this.place)
  }

  update(series, unit, moments) {
    this.#latest = { series, unit, moments }
    // Rows would move under the reader's eyes: they stay until the table is opened again.
    if (!this.place.firstChild) this.#show()
  }

  #show() {
    if (!this.element.open) this.place.replaceChildren()
    else if (this.#latest) this.place.replaceChildren(drawn(this.title, this.#latest))
  }
}

function drawn(title, { series, unit, moments }) {
  const columns = series.map(({ points }) => new Map(points))
  const heads = series.map(({ name }) =>
    h('th', { scope: 'col', class: 'number' }, h('bdi', {}, name)),
  )
  const rows = moments
    .slice(-MOST_ROWS)
    .reverse()
    .map(ms =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, h('time', { datetime: iso(ms) }, local(ms))),
        columns.map(column => h('td', { class: 'number' }, quantity(column.get(ms) ?? null, unit))),
      ),
    )
  return h(
    'table',
    {},
    h('caption', { class: 'unseen' }, title),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'time'), heads)),
    h('tbody', {}, rows),
  )
}
