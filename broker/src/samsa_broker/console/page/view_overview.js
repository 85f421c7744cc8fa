// The cluster at a glance: what comes and goes now, the last hour, and what is behind.

import { get, own } from './api.js'
import { section } from './dialog.js'
import { h } from './dom.js'
import { bytes, count, duration, quantity, short } from './format.js'
import { learn } from './features.js'
import { historyChart } from './history.js'
import { link } from './place.js'
import { stats } from './stats.js'
import { table } from './table.js'
import { problem } from './view.js'

const EVERY_MS = 2000
const NUMBERS = [
  ['written', data => quantity(data.rates.bytes_in, 'bytes/s')],
  ['read', data => quantity(data.rates.bytes_out, 'bytes/s')],
  ['records written', data => quantity(data.rates.records_in, '/s')],
  ['requests', data => quantity(data.rates.requests, '/s')],
  ['errors', data => quantity(data.rates.errors, '/s')],
  ['connections', data => count(data.connections)],
  ['stored', data => bytes(data.storage_bytes), data => `${count(data.storage_bytes)} bytes`],
  ['topics', data => count(data.topics), null, link(['topics'])],
  ['partitions', data => count(data.partitions)],
  ['groups', data => count(data.groups), null, link(['groups'])],
  ['open transactions', data => count(data.open_transactions), null, link(['transactions'])],
  ['up for', data => duration(data.uptime_s)],
]
const BEHIND = [
  { head: 'group', text: row => row.group, link: row => link(['groups', row.group]), isHead: true },
  { head: 'lag', text: row => short(row.lag), title: row => count(row.lag), number: true },
]
const BROKERS = [
  { head: 'id', text: row => String(row.id), isHead: true, number: true },
  { head: 'address', text: row => `${row.host}:${row.port}`, mono: true },
  { head: 'zone', text: row => row.zone ?? '' },
]

export function overviewView(view) {
  const failed = problem()
  const numbers = stats('Now', NUMBERS)
  const behind = table('Groups that are behind', BEHIND, {
    key: row => row.group,
    empty: () => h('p', {}, 'No group is behind.'),
  })
  const brokers = table('Brokers', BROKERS, {
    key: row => row.id,
    empty: () => h('p', {}, 'Clients come through a shim.'),
  })
  const plots = h('div', { class: 'plots' })
  let hasPlots = false

  function show(found) {
    learn(found)
    numbers.update(found)
    behind.update(found.groups_behind)
    brokers.update(found.brokers)
    if (!hasPlots) plots.append(...hour(view, found.features))
    hasPlots = true
  }

  view.element.append(
    view.title('Overview'),
    failed,
    section('Now', numbers.element),
    section('The last hour', plots),
    h(
      'div',
      { class: 'columns' },
      section('Groups that are behind', behind.element),
      section('Brokers', brokers.element),
    ),
  )
  view.every(EVERY_MS, async signal => show(await get(own('overview'), signal)), failed)
}

function hour(view, { history, process = true }) {
  if (!history)
    return [
      h(
        'p',
        {},
        'Only a broker itself knows its last hour: open the console at the HTTP address of samsa up.',
      ),
    ]
  const read = process ? [{ metric: 'bytes_out' }] : []
  const ofAll = [
    historyChart(view, process ? 'Bytes written and read' : 'Bytes written', [
      { metric: 'bytes_in' },
      ...read,
    ]),
    historyChart(view, 'Records written', [{ metric: 'records_in' }]),
    historyChart(view, 'Stored', [{ metric: 'storage' }]),
  ]
  return [...ofAll, ...(process ? ofProcess(view) : [])].map(each => each.element)
}

function ofProcess(view) {
  const of = kind => ({ chosen: each => each.startsWith(kind) })
  return [
    historyChart(view, 'How long writes take', [{ metric: 'latency' }], of('produce')),
    historyChart(view, 'How long reads take', [{ metric: 'latency' }], of('fetch')),
    historyChart(view, 'Requests and errors', [{ metric: 'requests' }, { metric: 'errors' }]),
    historyChart(view, 'Connections', [{ metric: 'connections' }]),
  ]
}
