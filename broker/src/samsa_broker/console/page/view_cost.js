// What it has cost, and what a month of the same would cost, here and elsewhere.

import { get, own } from './api.js'
import { section } from './dialog.js'
import { h, replace, setText, svg } from './dom.js'
import { bytes, count, dollars, local, short } from './format.js'
import { stats } from './stats.js'
import { table } from './table.js'
import { problem } from './view.js'

const EVERY_MS = 10_000
const WAYS = [
  ['functions', 'Samsa as functions (the bundle)'],
  ['processes', 'Samsa as processes on AWS'],
  ['msk_serverless', 'MSK Serverless'],
  ['kafka_ec2', 'Apache Kafka on EC2'],
]
const LINES = [
  { head: 'what', text: row => row.what, isHead: true },
  { head: 'how many', text: row => short(row.count), title: row => count(row.count), number: true },
  { head: 'dollars', text: row => dollars(row.dollars), number: true },
]

export function costView(view) {
  const failed = problem()
  const note = h('p', { class: 'note' })
  const since = h('p', { class: 'said' })
  const lines = table('So far', LINES, {
    key: row => row.what,
    empty: () => h('p', {}, 'Nothing was counted yet.'),
  })
  const month = h('div', { class: 'month' })
  const rates = stats('The last ten minutes', [
    ['messages', data => `${short(data.messages_per_s)} /s`],
    ['each of', data => bytes(data.bytes_per_message)],
    ['producers', data => short(data.producers)],
    ['consumers', data => short(data.consumers)],
  ])
  view.element.append(
    view.title('Cost'),
    failed,
    section('A month, if it went on like the last ten minutes', rates.element, month),
    section('So far', since, lines.element, note),
  )
  view.every(
    EVERY_MS,
    async signal => {
      const found = await get(own('cost'), signal)
      rates.update(found.rates)
      replace(month, comparison(found.month))
      setText(since, `${dollars(found.so_far.dollars)} since ${local(found.so_far.since_ms)}`)
      lines.update(found.so_far.lines)
      setText(note, found.note ?? '')
    },
    failed,
  )
}

function comparison(month) {
  const known = WAYS.filter(([key]) => typeof month?.[key] === 'number')
  if (!known.length) return h('p', {}, 'Not known yet: write something, and look again.')
  const most = Math.max(...known.map(([key]) => month[key]))
  const rows = known.map(([key, text], number) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, text),
      h('td', { class: 'number' }, dollars(month[key])),
      h('td', { class: 'bar' }, bar(month[key] / (most || 1), number)),
    ),
  )
  return h(
    'table',
    { class: 'bars' },
    h('caption', { class: 'unseen' }, 'Dollars a month'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'as'),
        h('th', { scope: 'col', class: 'number' }, 'a month'),
        h('th', { scope: 'col' }, h('span', { class: 'unseen' }, 'beside the others')),
      ),
    ),
    h('tbody', {}, rows),
  )
}

function bar(share, number) {
  return svg(
    'svg',
    { viewBox: '0 0 100 10', preserveAspectRatio: 'none', height: 12, 'aria-hidden': 'true' },
    svg('rect', {
      class: `block b${number < 2 ? 0 : 3}`,
      width: Math.max(0.5, share * 100),
      height: 10,
    }),
  )
}
