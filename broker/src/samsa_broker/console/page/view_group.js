// A consumer group: its members, how far it is behind, and where it goes on.

import { get, own, path } from './api.js'
import { confirmDelete, section } from './dialog.js'
import { h, name } from './dom.js'
import { checkbox } from './form.js'
import { count, short } from './format.js'
import { plotsOnDemand } from './features.js'
import { historyChart } from './history.js'
import { link } from './place.js'
import { openReset } from './resetting.js'
import { stats } from './stats.js'
import { table } from './table.js'
import { problem } from './view.js'

const EVERY_MS = 3000
const MEMBERS = [
  { head: 'member', text: row => row.id, isHead: true, mono: true },
  { head: 'client', text: row => row.client_id, long: true },
  { head: 'host', text: row => row.host, wide: true },
  { head: 'static id', text: row => row.instance_id ?? '', wide: true },
  { head: 'reads', text: row => assigned(row.partitions), long: true },
]
const OFFSETS = [
  { head: 'topic', text: row => row.topic, link: row => link(['topics', row.topic]), isHead: true },
  { head: 'partition', text: row => String(row.partition), number: true },
  { head: 'committed', text: row => count(row.committed), number: true },
  { head: 'start', text: row => count(row.start), number: true, wide: true },
  { head: 'end', text: row => count(row.end), number: true },
  { head: 'lag', text: row => count(row.lag), number: true },
  { head: 'metadata', text: row => row.metadata ?? '', wide: true, long: true },
]

export function groupView(view) {
  const group = view.path[1]
  const failed = problem()
  let found = null
  const told = stats('The group', [
    ['state', data => data.state],
    ['type', data => data.type],
    ['assignor', data => data.assignor || '–'],
    ['generation', data => count(data.generation)],
    ['members', data => count(data.members.length)],
    ['lag', data => short(total(data.offsets)), data => count(total(data.offsets))],
  ])
  const members = table('Members', MEMBERS, {
    key: row => row.id,
    empty: () => h('p', {}, 'It has no members. Its offsets can be reset now.'),
  })
  const offsets = table('Offsets', OFFSETS, {
    key: row => `${row.partition} ${row.topic}`,
    empty: () => h('p', {}, 'It has committed nothing yet.'),
  })

  async function load(signal) {
    found = await get(own(path('groups', group)), signal)
    told.update(found)
    members.update(found.members)
    offsets.update(found.offsets)
    plots.begin()
  }

  const reset = () => openReset(group, found?.offsets ?? [], view.signal, () => reload())
  const plots = plotsOnDemand(view, () => lagOverTime(view, group))
  view.element.append(
    h(
      'div',
      { class: 'head' },
      h('p', { class: 'trail' }, h('a', { href: link(['groups']) }, 'Groups'), ' /'),
      view.title(group, 'Group ', name(group)),
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'button', class: 'primary', on: { click: reset } }, 'Reset offsets…'),
        h(
          'button',
          { type: 'button', class: 'danger', on: { click: () => remove(view, group) } },
          'Delete the group…',
        ),
      ),
    ),
    failed,
    told.element,
    plots.element,
    section('Members', members.element),
    section('Lag by partition', offsets.element),
  )
  const reload = view.every(EVERY_MS, load, failed)
}

function lagOverTime(view, group) {
  const byPartition = checkbox('by-partition', 'by partition')
  const asked = { metric: 'group_lag', group }
  const made = historyChart(view, 'Lag over time', [asked])
  byPartition.input.addEventListener('change', () => {
    asked.partition = byPartition.isOn ? 'all' : undefined
    made.reload()
  })
  return [h('div', { class: 'wide-plot' }, byPartition.element, made.element)]
}

function total(offsets) {
  return offsets.reduce((sum, each) => sum + (each.lag ?? 0), 0)
}

/** `orders 0, 1, 2; payments 4` */
function assigned(partitions) {
  const topics = new Map()
  for (const { topic, partition } of partitions)
    topics.set(topic, [...(topics.get(topic) ?? []), partition])
  return (
    [...topics].map(([topic, numbers]) => `${topic} ${numbers.join(', ')}`).join('; ') || 'nothing'
  )
}

function remove(view, group) {
  const more =
    'with its offsets? Its consumers begin anew, where their auto.offset.reset says. It must have no members.'
  confirmDelete(view, 'group', group, more)
}
