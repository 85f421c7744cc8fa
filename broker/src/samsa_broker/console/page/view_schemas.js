// Schemas, if a registry answers at this address: subjects, their versions, and the text of each.

import { get, path, root } from './api.js'
import { section } from './dialog.js'
import { h, name, replace } from './dom.js'
import { indented } from './json_text.js'
import { plural } from './format.js'
import { link } from './place.js'
import { copyButton } from './saving.js'
import { searchField } from './search_field.js'
import { table } from './table.js'
import { problem } from './view.js'

const EVERY_MS = 10_000
const MOST_SUBJECTS = 500

export function schemasView(view) {
  if (view.path.length > 1) oneSubject(view, view.path[1], view.path[2])
  else subjects(view)
}

function subjects(view) {
  const failed = problem()
  const said = h('p', { class: 'said', role: 'status' })
  let found = []
  const rows = table(
    'Subjects',
    [
      {
        head: 'subject',
        text: row => row.name,
        link: row => link(['schemas', row.name]),
        isHead: true,
      },
    ],
    {
      empty: () =>
        h(
          'p',
          {},
          'No subject is here. A serializer of a client registers a schema when it first writes, or samsa schemas does.',
        ),
    },
  )
  const search = searchField('search', 'Search', '', () => show())

  function show() {
    const fit = found.filter(each => each.toLowerCase().includes(search.value.toLowerCase()))
    rows.update(fit.slice(0, MOST_SUBJECTS).map(each => ({ name: each })))
    said.textContent = `${plural(fit.length, 'subject')}${fit.length > MOST_SUBJECTS ? `; the first ${MOST_SUBJECTS} are here` : ''}`
  }

  view.element.append(
    view.title('Schemas'),
    h('div', { class: 'row' }, search.element),
    failed,
    rows.element,
    said,
  )
  view.every(
    EVERY_MS,
    async signal => {
      found = await get(root('subjects'), signal)
      show()
    },
    failed,
  )
}

function oneSubject(view, subject, wanted) {
  const failed = problem()
  const versions = h('nav', { class: 'parts', 'aria-label': 'Versions' })
  const place = h('div', {})
  view.element.append(
    h(
      'div',
      { class: 'head' },
      h('p', { class: 'trail' }, h('a', { href: link(['schemas']) }, 'Schemas'), ' /'),
      view.title(subject, 'Subject ', name(subject)),
    ),
    failed,
    versions,
    place,
  )
  view.act(failed, async signal => {
    const numbers = await get(root(path('subjects', subject, 'versions')), signal)
    const version = wanted ?? String(numbers.at(-1))
    replace(
      versions,
      h(
        'ul',
        {},
        numbers.map(each =>
          h(
            'li',
            {},
            h(
              'a',
              {
                href: link(['schemas', subject, String(each)]),
                'aria-current': String(each) === version ? 'page' : null,
              },
              `Version ${each}`,
            ),
          ),
        ),
      ),
    )
    replace(place, schema(await get(root(path('subjects', subject, 'versions', version)), signal)))
  })
}

function schema({ id, version, schemaType: kind = 'AVRO', schema: text, references = [] }) {
  const uses = references.map(each =>
    h(
      'li',
      {},
      h('a', { href: link(['schemas', each.subject, String(each.version)]) }, name(each.name)),
    ),
  )
  return [
    section(
      `Version ${version}`,
      h('p', {}, `${kind}, id ${id}`),
      h('pre', { tabindex: '0', role: 'region', 'aria-label': 'Schema' }, indented(text) ?? text),
      h(
        'div',
        { class: 'buttons' },
        copyButton('Copy the schema', () => text),
      ),
    ),
    uses.length > 0 && section('References', h('ul', {}, uses)),
  ]
}
