// A topic: its growth, its partitions, and what their logs are made of.

import { get, own, path } from './api.js'
import { composition } from './composition.js'
import { section } from './dialog.js'
import { h } from './dom.js'
import { bytes, count, exact, local, NOT_KNOWN, short } from './format.js'
import { plotsOnDemand } from './features.js'
import { historyChart } from './history.js'
import { pager } from './pager.js'
import { link } from './place.js'
import { table } from './table.js'
import { topicHead } from './topic_head.js'
import { problem } from './view.js'

const PAGE = 100
const EVERY_MS = 5000

export function topicView(view) {
  const topic = view.path[1]
  const failed = problem()
  const rows = table('Partitions', columns(topic), { key: row => row.partition })
  const pages = pager(PAGE, 'partition', () => reload())
  const made = composition()
  const plots = plotsOnDemand(view, () => growth(view, topic))

  async function load(signal) {
    const found = await get(
      own(path('topics', topic, 'log'), { offset: pages.offset, limit: PAGE }),
      signal,
    )
    if (!pages.update(found.total)) return
    rows.update(found.partitions)
    made.update(found.partitions)
    plots.begin()
  }

  view.element.append(topicHead(view, topic, '', { changed: () => reload() }), failed)
  view.element.append(
    plots.element,
    section('Partitions', made.element, rows.element, pages.element),
  )
  const reload = view.every(EVERY_MS, load, failed)
}

function growth(view, topic) {
  const written = [{ metric: 'topic_bytes_in', topic }]
  return [
    historyChart(view, 'Bytes written', written, { chosen: each => each === 'bytes' }).element,
    historyChart(view, 'Records written', written, {
      chosen: each => each === 'records',
      unit: 'records/s',
    }).element,
    historyChart(view, 'Size', [{ metric: 'topic_size', topic }]).element,
  ]
}

function columns(topic) {
  const part = kind => ({
    count: row => row[kind]?.count ?? row[kind]?.entries,
    bytes: row => row[kind]?.bytes,
  })
  return [
    {
      head: 'partition',
      text: row => String(row.partition),
      isHead: true,
      number: true,
      link: row => link(['topics', topic, 'records'], { partition: row.partition }),
    },
    { head: 'start', text: row => count(row.start), number: true },
    { head: 'end', text: row => count(row.end), number: true },
    {
      head: 'stable end',
      text: row => count(row.stable_end),
      number: true,
      wide: true,
      title: () => 'What read_committed readers see ends here.',
    },
    {
      head: 'size',
      text: row => bytes(row.bytes),
      number: true,
      title: row => `${count(row.bytes)} bytes`,
    },
    ...[
      ['tail', 'tail'],
      ['extents', 'extents'],
      ['segments', 'segments'],
    ].map(([kind, head]) => ({
      head,
      number: true,
      wide: true,
      text: row => parted(part(kind), row),
      title: row => `${count(part(kind).bytes(row))} bytes`,
    })),
    { head: 'compacted to', text: row => count(row.compacted_to), number: true, wide: true },
    {
      head: 'oldest extent',
      text: row => local(row.oldest_ms),
      title: row => exact(row.oldest_ms),
      wide: true,
    },
    {
      head: 'newest record',
      text: row => local(row.newest_ms),
      title: row => exact(row.newest_ms),
    },
  ]
}

function parted({ count: number, bytes: size }, row) {
  const known = number(row)
  return known === null || known === undefined ? NOT_KNOWN : `${short(known)}, ${bytes(size(row))}`
}
