// Who may come in, and what they may do: users, ACLs, quotas.

import { get, own } from './api.js'
import { section } from './dialog.js'
import { h, setText } from './dom.js'
import { count, quantity } from './format.js'
import { searchField } from './search_field.js'
import { table } from './table.js'
import { problem } from './view.js'

const EVERY_MS = 10_000
const UNITS = {
  producer_byte_rate: 'bytes/s',
  consumer_byte_rate: 'bytes/s',
  request_percentage: '%',
  controller_mutation_rate: 'changes/s',
}
const USERS = [
  { head: 'user', text: row => row.name, isHead: true },
  { head: 'logs in with', text: row => row.mechanisms.join(', ') },
]
const ACLS = [
  { head: 'principal', text: row => row.principal, isHead: true },
  { head: 'permission', text: row => row.permission },
  { head: 'operation', text: row => row.operation },
  { head: 'resource', text: row => row.resource_type },
  { head: 'name', text: row => row.name, long: true },
  { head: 'pattern', text: row => row.pattern, wide: true },
  { head: 'host', text: row => row.host, wide: true },
]
const QUOTAS = [
  { head: 'of', text: row => pairs(row.entity), isHead: true },
  {
    head: 'at most',
    text: row =>
      Object.entries(row.values)
        .map(([key, value]) => `${key} ${limit(key, value)}`)
        .join(', '),
  },
]

export function securityView(view) {
  const failed = problem()
  const said = h('p', { class: 'said' })
  let acls = null
  const search = searchField('search', 'Search in ACLs', '', () => showAcls())
  const parts = {
    users: part(
      'Users',
      USERS,
      row => row.name,
      'No user has a password here. `samsa users add NAME` adds one.',
    ),
    acls: part(
      'ACLs',
      ACLS,
      row => Object.values(row).join(' '),
      'There are no ACLs like this. `samsa acls add` adds one.',
      search.element,
    ),
    quotas: part(
      'Quotas',
      QUOTAS,
      row => pairs(row.entity),
      'There are no limits. `samsa quotas` sets them.',
    ),
  }

  function showAcls() {
    const text = search.value.toLowerCase()
    parts.acls.update(
      acls?.filter(row => Object.values(row).join(' ').toLowerCase().includes(text)) ?? null,
      whyNot.acls,
    )
  }

  let whyNot = {}
  view.element.append(
    view.title('Security'),
    said,
    failed,
    ...Object.values(parts).map(each => each.element),
  )
  view.every(
    EVERY_MS,
    async signal => {
      const found = await get(own('security'), signal)
      whyNot = reasons(found.why)
      setText(
        said,
        found.enabled
          ? 'Clients of this cluster log in, and ACLs decide what they may do.'
          : 'This broker has no logins: every client that reaches it may do everything. samsa up --secure starts a closed one.',
      )
      acls = found.acls
      parts.users.update(found.users, whyNot.users)
      parts.quotas.update(found.quotas, whyNot.quotas)
      showAcls()
    },
    failed,
  )
}

function part(title, columns, key, nothing, ...above) {
  const rows = table(title, columns, { key, empty: () => h('p', {}, code(nothing)) })
  const said = h('p', { class: 'note', hidden: true })
  const update = (found, why) => {
    rows.element.hidden = found === null
    said.hidden = found !== null
    if (found === null) setText(said, why ?? 'You may not see this.')
    else rows.update(found)
  }
  return { element: section(title, above, said, rows.element), update }
}

/** One sentence for all parts, or one for each. */
function reasons(why) {
  if (typeof why === 'object' && why !== null) return why
  return { users: why ?? undefined, acls: why ?? undefined, quotas: why ?? undefined }
}

function code(text) {
  return text.split('`').map((part, number) => (number % 2 ? h('code', {}, part) : part))
}

function pairs(entity) {
  return Object.entries(entity)
    .map(([kind, name]) => `${kind} ${name ?? '(default)'}`)
    .join(', ')
}

function limit(key, value) {
  return key in UNITS ? quantity(value, UNITS[key]) : count(value)
}
