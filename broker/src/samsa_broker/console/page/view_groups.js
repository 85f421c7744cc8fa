// Consumer groups, those that are furthest behind first.

import { get, own } from './api.js'
import { h } from './dom.js'
import { count, short } from './format.js'
import { link, note } from './place.js'
import { pager } from './pager.js'
import { searchField } from './search_field.js'
import { table } from './table.js'
import { problem } from './view.js'

const PAGE = 50
const EVERY_MS = 5000
const COLUMNS = [
  {
    head: 'group',
    text: row => row.group || '(the empty name)',
    link: row => link(['groups', row.group]),
    isHead: true,
    sort: 'name',
  },
  { head: 'state', text: row => row.state },
  { head: 'type', text: row => row.type, wide: true },
  { head: 'members', text: row => count(row.members), number: true },
  {
    head: 'topics',
    text: row => (Array.isArray(row.topics) ? row.topics.join(', ') : count(row.topics)),
    wide: true,
    long: true,
  },
  {
    head: 'lag',
    text: row => short(row.lag),
    title: row => count(row.lag),
    number: true,
    sort: 'lag',
  },
]

export function groupsView(view) {
  const asked = { search: view.query.search ?? '', sort: view.query.sort ?? 'lag' }
  const failed = problem()
  const sorting = { by: asked.sort, order: asked.sort === 'lag' ? 'desc' : 'asc', choose }
  const rows = table('Groups', COLUMNS, {
    key: row => row.group,
    sorting,
    empty: () => nothing(asked.search),
  })
  const pages = pager(PAGE, 'group', () => reload())
  const search = searchField('search', 'Search', asked.search, text => {
    asked.search = text
    again()
  })

  function choose(by) {
    asked.sort = by
    again()
    return by === 'lag' ? 'desc' : 'asc'
  }

  function again() {
    pages.restart()
    note(view.path, asked)
    reload()
  }

  async function load(signal) {
    const found = await get(own('groups', { ...asked, offset: pages.offset, limit: PAGE }), signal)
    if (pages.update(found.total)) rows.update(found.groups)
  }

  view.element.append(
    view.title('Groups'),
    h('div', { class: 'row' }, search.element),
    failed,
    rows.element,
    pages.element,
  )
  const reload = view.every(EVERY_MS, load, failed)
}

function nothing(search) {
  if (search) return h('p', {}, 'No group has this in its name.')
  const host = location.hostname.includes(':') ? `[${location.hostname}]` : location.hostname
  return [
    h('p', {}, 'There are no consumer groups yet. A consumer with a group id makes one:'),
    h('pre', {}, `kcat -b ${host}:9092 -G readers numbers`),
  ]
}
