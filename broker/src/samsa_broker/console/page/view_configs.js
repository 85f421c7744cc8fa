// A topic's configs: what is in force, from where, and what it does here; each can be changed.

import { get, path, root, send } from './api.js'
import { announce } from './announcer.js'
import { openDialog } from './dialog.js'
import { h, name } from './dom.js'
import { checkbox, field, form } from './form.js'
import { searchField } from './search_field.js'
import { table } from './table.js'
import { topicHead } from './topic_head.js'
import { problem } from './view.js'

const EVERY_MS = 15_000

export function configsView(view) {
  const topic = view.path[1]
  const failed = problem()
  let found = []
  const changedOnly = checkbox('own-only', 'only those that the topic has itself')
  const search = searchField('search', 'Search', '', () => show())
  const rows = table(
    'Configs',
    columns(row => openChange(view, topic, row, answer => take(answer))),
    {
      empty: () => h('p', {}, 'No config is like this. Search for less, or show all of them.'),
    },
  )

  function take(answer) {
    found = answer.configs
    show()
  }

  function show() {
    const text = search.value.toLowerCase()
    rows.update(
      found.filter(
        row =>
          (row.name.includes(text) || row.about.toLowerCase().includes(text)) &&
          (!changedOnly.isOn || row.source === 'topic'),
      ),
    )
  }

  changedOnly.input.addEventListener('change', show)
  view.element.append(
    topicHead(view, topic, 'configs'),
    h('div', { class: 'row' }, search.element, changedOnly.element),
    failed,
    rows.element,
  )
  view.every(
    EVERY_MS,
    async signal => take(await get(root(path('topics', topic, 'configs')), signal)),
    failed,
  )
}

function columns(change) {
  return [
    { head: 'config', text: row => row.name, isHead: true, mono: true },
    { head: 'value', text: row => row.value ?? 'null', mono: true },
    { head: 'from', text: row => row.source.replace(/_/g, ' ') },
    { head: 'default', text: row => row.default ?? 'null', mono: true, wide: true },
    { head: 'what it does here', text: row => row.about, wide: true },
    { head: 'change', make: current => button(current, change) },
  ]
}

function button(current, change) {
  const { name: config, read_only: isFixed } = current()
  if (isFixed) return h('span', {}, 'read only')
  return h(
    'button',
    { type: 'button', 'aria-label': `Change ${config}`, on: { click: () => change(current()) } },
    'Change…',
  )
}

function openChange(view, topic, row, then) {
  const value = field('config-value', 'Value', {
    value: row.value ?? '',
    hint: `${row.type}; the default is ${row.default ?? 'null'}`,
  })
  const set = async to => {
    const answer = await send(
      'PATCH',
      root(path('topics', topic, 'configs')),
      { configs: { [row.name]: to } },
      view.signal,
    )
    close()
    announce(`${row.name} is ${to ?? 'the default again'}.`)
    then(answer)
  }
  const back = h(
    'button',
    { type: 'submit', value: 'default', disabled: row.source !== 'topic' },
    'Back to the default',
  )
  const asked = form(
    { id: 'config', class: 'stack' },
    [value],
    'Change',
    pressed => set(pressed === back ? null : value.value),
    back,
  )
  const close = openDialog(
    `Change ${row.name}`,
    view.signal,
    h('p', {}, row.about),
    h('p', {}, 'Of the topic ', name(topic), '.'),
    asked,
  )
}
