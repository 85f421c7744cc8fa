// Topics: find one, sort them, create one.

import { get, own, root, send } from './api.js'
import { announce } from './announcer.js'
import { openDialog } from './dialog.js'
import { h } from './dom.js'
import { field, form, needed, optional, wholeNumber } from './form.js'
import { bytes, count, quantity, short } from './format.js'
import { go, link, note } from './place.js'
import { pager } from './pager.js'
import { searchField } from './search_field.js'
import { table } from './table.js'
import { problem } from './view.js'

const PAGE = 50
const EVERY_MS = 5000
const COLUMNS = [
  {
    head: 'topic',
    text: row => row.name,
    link: row => link(['topics', row.name]),
    sort: 'name',
    isHead: true,
  },
  { head: 'partitions', text: row => count(row.partitions), number: true },
  {
    head: 'records',
    text: row => short(row.records),
    title: row => count(row.records),
    number: true,
  },
  {
    head: 'size',
    text: row => bytes(row.bytes),
    title: row => `${count(row.bytes)} bytes`,
    number: true,
    sort: 'size',
  },
  { head: 'written', text: row => quantity(row.rate_in, 'bytes/s'), number: true, sort: 'rate' },
  { head: 'clean-up', text: row => row.cleanup_policy ?? '', wide: true },
  { head: 'kind', text: row => (row.internal ? 'internal' : ''), wide: true },
]

export function topicsView(view) {
  const asked = {
    search: view.query.search ?? '',
    sort: view.query.sort ?? 'name',
    order: view.query.order ?? 'asc',
  }
  const failed = problem()
  const sorting = {
    by: asked.sort,
    order: asked.order,
    choose: by => {
      asked.order =
        asked.sort === by && asked.order === 'asc'
          ? 'desc'
          : asked.sort === by || by === 'name'
            ? 'asc'
            : 'desc'
      asked.sort = by
      again()
      return asked.order
    },
  }
  const rows = table('Topics', COLUMNS, {
    key: row => row.id ?? row.name,
    sorting,
    empty: () => nothing(asked.search),
  })
  const pages = pager(PAGE, 'topic', () => reload())
  const search = searchField('search', 'Search', asked.search, text => {
    asked.search = text
    again()
  })

  async function load(signal) {
    const found = await get(own('topics', { ...asked, offset: pages.offset, limit: PAGE }), signal)
    if (pages.update(found.total)) rows.update(found.topics)
  }

  function again() {
    pages.restart()
    note(view.path, { search: asked.search, sort: asked.sort, order: asked.order })
    reload()
  }

  const create = h(
    'button',
    { type: 'button', class: 'primary', on: { click: () => openCreating(view) } },
    'Create a topic…',
  )
  view.element.append(
    view.title('Topics'),
    h('div', { class: 'row' }, search.element, create),
    failed,
    rows.element,
    pages.element,
  )
  const reload = view.every(EVERY_MS, load, failed)
}

function nothing(search) {
  if (search)
    return h('p', {}, 'No topic has this in its name. Search for less of it, or create the topic.')
  const host = location.hostname.includes(':') ? `[${location.hostname}]` : location.hostname
  return [
    h(
      'p',
      {},
      'There are no topics yet. Create one here, or write to one with kcat, and read it again:',
    ),
    h(
      'pre',
      {},
      `seq 1 1000 | kcat -b ${host}:9092 -t numbers -P\nkcat -b ${host}:9092 -t numbers -C -o beginning -e`,
    ),
  ]
}

function openCreating(view) {
  const title = field('topic-name', 'Name', {
    check: needed('Write a name.'),
    hint: 'letters, digits, dots, underscores and dashes',
  })
  const partitions = field('topic-partitions', 'Partitions', {
    inputmode: 'numeric',
    size: 6,
    hint: 'the broker’s default, if empty',
    check: optional(wholeNumber(1, 100_000, 'The number of partitions')),
  })
  const policy = field('topic-policy', 'Clean-up', {
    options: [
      ['', 'the broker’s default'],
      ['delete', 'delete old records'],
      ['compact', 'keep the newest of each key'],
      ['compact,delete', 'both'],
    ],
  })
  const configs = field('topic-configs', 'Other configs', {
    lines: 3,
    hint: 'one in a line: retention.ms=3600000',
    check: checkConfigs,
  })
  const create = async () => {
    const body = { name: title.value, configs: configsOf(configs.value) }
    if (partitions.value.trim()) body.partitions = Number(partitions.value)
    if (policy.value) body.configs['cleanup.policy'] = policy.value
    const made = await send('POST', root('topics'), body, view.signal)
    close()
    announce(`The topic ${made.name} is created.`)
    go(['topics', made.name])
  }
  const close = openDialog(
    'Create a topic',
    view.signal,
    form({ id: 'create', class: 'stack' }, [title, partitions, policy, configs], 'Create', create),
  )
}

function configsOf(text) {
  const filled = text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
  return Object.fromEntries(
    filled.map(line => [
      line.slice(0, line.indexOf('=')).trim(),
      line.slice(line.indexOf('=') + 1).trim(),
    ]),
  )
}

function checkConfigs(text) {
  const bad = text.split('\n').find(line => line.trim() && line.indexOf('=') < 1)
  return bad === undefined ? '' : `“${bad.trim()}” is not NAME=VALUE.`
}
