// What stands above each view of a topic: its name, the ways on, and what changes it.

import { path, root, send } from './api.js'
import { announce } from './announcer.js'
import { confirmDelete, openDialog } from './dialog.js'
import { h, name } from './dom.js'
import { field, form, wholeNumber } from './form.js'
import { go, link } from './place.js'

const PARTS = [
  ['', 'Partitions'],
  ['records', 'Records'],
  ['configs', 'Configs'],
]

export function topicHead(view, topic, part, { changed = null } = {}) {
  const heading = view.title(part ? `${topic}: ${part}` : topic, 'Topic ', name(topic))
  const links = PARTS.map(([each, text]) =>
    h(
      'li',
      {},
      h(
        'a',
        {
          href: link(['topics', topic, ...(each ? [each] : [])]),
          'aria-current': each === part ? 'page' : null,
        },
        text,
      ),
    ),
  )
  const acts = changed && [
    h(
      'button',
      { type: 'button', on: { click: () => addPartitions(view, topic, changed) } },
      'Add partitions…',
    ),
    h(
      'button',
      { type: 'button', class: 'danger', on: { click: () => remove(view, topic) } },
      'Delete the topic…',
    ),
  ]
  return h(
    'div',
    { class: 'head' },
    h('p', { class: 'trail' }, h('a', { href: link(['topics']) }, 'Topics'), ' /'),
    heading,
    h(
      'div',
      { class: 'row' },
      h('nav', { class: 'parts', 'aria-label': 'Of this topic' }, h('ul', {}, links)),
      acts,
    ),
  )
}

function addPartitions(view, topic, changed) {
  const total = field('partitions-total', 'Partitions in all', {
    inputmode: 'numeric',
    check: wholeNumber(1, 100_000, 'The number of partitions'),
  })
  const add = async () => {
    const made = await send(
      'POST',
      root(path('topics', topic, 'partitions')),
      { count: Number(total.value) },
      view.signal,
    )
    close()
    announce(`There are ${made.partitions} partitions.`)
    changed()
  }
  const close = openDialog(
    'Add partitions',
    view.signal,
    h(
      'p',
      {},
      'There can be more of them, never fewer. Records with a key may go to another partition from then on.',
    ),
    form({ id: 'add-partitions', class: 'stack' }, [total], 'Add', add),
  )
}

function remove(view, topic) {
  const more =
    'with all of its records, and what groups have committed for it? This cannot be undone.'
  confirmDelete(view, 'topic', topic, more)
}
