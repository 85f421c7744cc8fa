// What the listed logs are made of, as one bar and in words.

import { h, replace, svg } from './dom.js'
import { bytes, short } from './format.js'

const PARTS = [
  ['segments', 'segments', 'merged: large objects'],
  ['extents', 'extents', 'appends that are in the index, not merged yet'],
  ['tail', 'tail', 'the newest appends, still in the partition’s head'],
]
const WIDTH = 1000
const HEIGHT = 18

export function composition() {
  const bar = h('div', { class: 'bar-of-parts' })
  const list = h('ul', { class: 'legend' })
  const element = h(
    'div',
    { class: 'composition', hidden: true },
    h('h3', {}, 'What the log is made of'),
    bar,
    list,
  )
  return { element, update: rows => show(element, bar, list, rows) }
}

function show(element, bar, list, rows) {
  const known = rows.filter(row => row.segments && row.extents && row.tail)
  element.hidden = known.length === 0
  const sums = PARTS.map(([kind]) => known.reduce((sum, row) => sum + row[kind].bytes, 0))
  const counts = PARTS.map(([kind]) =>
    known.reduce((sum, row) => sum + (row[kind].count ?? row[kind].entries), 0),
  )
  replace(bar, drawn(sums))
  replace(
    list,
    PARTS.map(([, title, about], number) =>
      h(
        'li',
        {},
        sample(number),
        `${title}: ${short(counts[number])}, ${bytes(sums[number])} `,
        h('span', { class: 'hint' }, about),
      ),
    ),
  )
}

function drawn(sums) {
  const total = sums.reduce((sum, each) => sum + each, 0) || 1
  let x = 0
  const blocks = sums.map((sum, number) => {
    const width = (sum / total) * WIDTH
    x += width
    return svg('rect', { class: `block b${number}`, x: x - width, y: 0, width, height: HEIGHT })
  })
  return svg(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      height: HEIGHT,
      'aria-hidden': 'true',
    },
    blocks,
  )
}

function sample(number) {
  return svg(
    'svg',
    { class: 'sample', width: 12, height: 12, 'aria-hidden': 'true' },
    svg('rect', { class: `block b${number}`, width: 12, height: 12 }),
  )
}
