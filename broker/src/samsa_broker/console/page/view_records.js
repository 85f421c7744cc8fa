// Records of a topic: browse them, follow the end, search, and write.

import { path } from './api.js'
import { asked, BY_SCHEMA, FORMATS } from './content.js'
import { h } from './dom.js'
import { field } from './form.js'
import { features } from './features.js'
import { go, here, note } from './place.js'
import { browsing } from './browsing.js'
import { searching } from './searching.js'
import { tailing } from './tailing.js'
import { openWriting } from './writing.js'
import { topicHead } from './topic_head.js'

const MODES = [
  ['browse', 'Browse'],
  ['tail', 'Live tail'],
  ['search', 'Search'],
]
const PARTS = { browse: browsing, tail: tailing, search: searching }
const KEY = 'samsa-format'

export function recordsView(view) {
  const topic = view.path[1]
  const mode = MODES.some(([each]) => each === view.query.mode) ? view.query.mode : 'browse'
  const chosen = view.query.format ?? remembered()
  const format = field('format', 'Show as', { options: FORMATS, value: chosen })
  const write = record => openWriting(topic, view.signal, record)
  const part = PARTS[mode](view, {
    topic,
    format: chosen,
    asForm: asked(chosen),
    write,
    head: [format],
  })
  format.input.addEventListener('change', () => {
    remember(format.value)
    const query = { ...here().query, format: format.value }
    // What a schema describes is decoded by the broker: it is asked again.
    if (asked(format.value) !== asked(chosen)) return go(view.path, query)
    part.list.setFormat(format.value)
    return note(view.path, query)
  })
  features(view, ({ schemas }) => {
    if (schemas) format.input.append(option(BY_SCHEMA, chosen))
  })
  view.element.append(
    topicHead(view, topic, 'records'),
    h(
      'div',
      { class: 'row' },
      modes(view, mode),
      h('button', { type: 'button', on: { click: () => write(null) } }, 'Write a record…'),
    ),
    h('h2', { class: 'unseen' }, 'Records'),
    part.element,
  )
}

function modes(view, now) {
  const links = MODES.map(([mode, text]) =>
    h(
      'li',
      {},
      h(
        'a',
        {
          href: `#/${path(...view.path)}?mode=${mode}`,
          'aria-current': mode === now ? 'true' : null,
        },
        text,
      ),
    ),
  )
  return h('nav', { class: 'modes', 'aria-label': 'Ways to read' }, h('ul', {}, links))
}

function option([value, text], chosen) {
  return h('option', { value, selected: value === chosen }, text)
}

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? 'auto'
  } catch {
    return 'auto'
  }
}

function remember(format) {
  try {
    localStorage.setItem(KEY, format)
  } catch {
    // It is in the address.
  }
}
