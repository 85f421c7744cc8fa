// Transactions: which are open, since when, and where. One that hangs can be aborted.

import { get, own, path, send } from './api.js'
import { announce } from './announcer.js'
import { confirm } from './dialog.js'
import { h, name } from './dom.js'
import { count, duration, exact, local, plural } from './format.js'
import { table } from './table.js'
import { problem } from './view.js'

const EVERY_MS = 3000
const SHOWN_PARTITIONS = 6

export function transactionsView(view) {
  const failed = problem()
  const rows = table(
    'Transactions',
    columns(row => ask(row)),
    {
      key: row => row.transactional_id,
      empty: () =>
        h(
          'p',
          {},
          'No producer with a transactional.id has been here. A transaction that is open is listed here, and can be aborted.',
        ),
    },
  )

  function ask(row) {
    const question = [
      'Abort the transaction of ',
      name(row.transactional_id),
      '? Its producer is told so with its next request. Its records are never seen by read_committed readers.',
    ]
    confirm('Abort the transaction?', question, 'Abort it', view.signal, async () => {
      await send(
        'POST',
        own(`${path('transactions', row.transactional_id)}/abort`),
        undefined,
        view.signal,
      )
      announce(`The transaction of ${row.transactional_id} is aborted.`)
      reload()
    })
  }

  const said = h('p', { class: 'said' })
  view.element.append(view.title('Transactions'), said, failed, rows.element)
  const reload = view.every(
    EVERY_MS,
    async signal => {
      const { transactions } = await get(own('transactions'), signal)
      const open = transactions.filter(isOpen).length
      said.textContent = transactions.length
        ? `${plural(transactions.length, 'transactional id')}, ${plural(open, 'open transaction')}`
        : ''
      rows.update(transactions.sort((a, b) => isOpen(b) - isOpen(a)))
    },
    failed,
  )
}

function columns(abort) {
  return [
    { head: 'transactional id', text: row => row.transactional_id, isHead: true },
    { head: 'state', text: row => row.state },
    { head: 'since', text: row => since(row), title: row => exact(row.started_ms) },
    { head: 'time-out', text: row => duration(row.timeout_ms / 1000), number: true, wide: true },
    { head: 'producer id', text: row => String(row.producer_id), number: true, wide: true },
    { head: 'epoch', text: row => String(row.epoch), number: true, wide: true },
    {
      head: 'partitions',
      text: row => partitions(row.partitions),
      wide: true,
      long: true,
      title: row => row.partitions.map(one).join(', '),
    },
    { head: 'act', make: current => abortButton(current, abort), isShown: isOpen },
  ]
}

function abortButton(current, abort) {
  return h(
    'button',
    {
      type: 'button',
      class: 'danger',
      'aria-label': `Abort the transaction of ${current().transactional_id}`,
      on: { click: () => abort(current()) },
    },
    'Abort…',
  )
}

function since(row) {
  return isOpen(row) && row.started_ms
    ? `${local(row.started_ms).slice(-8)}, ${duration(Math.max(0, Date.now() - row.started_ms) / 1000)}`
    : ''
}

function partitions(rows) {
  const more = rows.length - SHOWN_PARTITIONS
  return (
    rows.slice(0, SHOWN_PARTITIONS).map(one).join(', ') +
    (more > 0 ? ` and ${count(more)} more` : '')
  )
}

function one({ topic, partition }) {
  return `${topic}/${partition}`
}

function isOpen(row) {
  return row.started_ms !== null && /ongoing|prepare/i.test(row.state)
}
