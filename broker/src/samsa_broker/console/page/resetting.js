// Sets where a group goes on: what would change is shown first, and a second button does that.

import { own, path, send } from './api.js'
import { announce } from './announcer.js'
import { openDialog } from './dialog.js'
import { h, name, replace } from './dom.js'
import { allGood, field, form, needed, wholeNumber } from './form.js'
import { count, plural } from './format.js'
import { numbersOf } from './numbers.js'
import { calm, problem, tell } from './view.js'

const TO = [
  ['earliest', 'the oldest record'],
  ['latest', 'the end'],
  ['offset', 'an offset'],
  ['timestamp', 'a time'],
  ['shift', 'forwards or backwards'],
]

export function openReset(group, offsets, signal, done) {
  const topics = [...new Set(offsets.map(each => each.topic))]
  const topic = field('reset-topic', 'Topic', {
    value: topics[0] ?? '',
    list: 'reset-topics',
    check: needed('Write the name of a topic.'),
  })
  const known = h(
    'datalist',
    { id: 'reset-topics' },
    topics.map(each => h('option', { value: each })),
  )
  const partitions = field('reset-partitions', 'Partitions', {
    value: 'all',
    hint: 'all, or numbers: 0,2,5-7',
    check: checkPartitions,
  })
  const to = field('reset-to', 'To', { options: TO })
  const places = {
    offset: field('reset-offset', 'Offset', {
      inputmode: 'numeric',
      check: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'An offset'),
    }),
    timestamp: field('reset-time', 'Time (local)', {
      type: 'datetime-local',
      step: '1',
      check: needed('Choose a day and a time.'),
    }),
    shift: field('reset-shift', 'By so many records', {
      inputmode: 'numeric',
      hint: 'negative goes back',
      check: wholeNumber(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'This'),
    }),
  }
  const chosen = () => places[to.value]
  const fields = () => [topic, partitions, to, chosen()].filter(Boolean)
  const shown = h('div', { class: 'dry-run', 'aria-live': 'polite' })
  const failed = problem()

  function body(isDry) {
    return {
      topic: topic.value,
      partitions: partitions.value.trim() === 'all' ? null : numbersOf(partitions.value),
      to: where(),
      dry_run: isDry,
    }
  }

  function where() {
    const place = chosen()
    if (!place) return to.value
    return {
      [to.value]: to.value === 'timestamp' ? new Date(place.value).getTime() : Number(place.value),
    }
  }

  /** What was shown is what is sent, whatever the fields say by then. */
  async function preview() {
    if (!allGood(fields())) return
    const asked = body(true)
    const answer = await send('POST', own(`${path('groups', group)}/reset`), asked, signal)
    replace(
      shown,
      outcome(answer.offsets),
      answer.offsets.length > 0 &&
        h(
          'button',
          {
            type: 'button',
            class: 'danger',
            on: { click: event => apply({ ...asked, dry_run: false }, event.target) },
          },
          'Reset these offsets',
        ),
      failed,
    )
  }

  async function apply(asked, button) {
    button.disabled = true
    calm(failed)
    try {
      const answer = await send('POST', own(`${path('groups', group)}/reset`), asked, signal)
      close()
      announce(`${plural(answer.offsets.length, 'offset')} were reset.`)
      done()
    } catch (error) {
      button.disabled = false
      tell(failed, error)
    }
  }

  const change = () => {
    for (const [kind, each] of Object.entries(places)) each.element.hidden = kind !== to.value
    replace(shown)
  }
  const asking = form(
    { id: 'reset', class: 'stack' },
    [topic, known, partitions, to, ...Object.values(places).map(each => each.element)],
    'Show what would change',
    preview,
  )
  asking.addEventListener('input', change)
  const close = openDialog(
    'Reset offsets',
    signal,
    h(
      'p',
      {},
      'Of the group ',
      name(group),
      '. It must have no members: stop its consumers first.',
    ),
    asking,
    shown,
  )
  change()
}

function outcome(offsets) {
  if (!offsets.length)
    return h('p', {}, 'Nothing would change: the group has committed nothing there.')
  const rows = offsets.map(each =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, name(each.topic)),
      [each.partition, each.from, each.to, each.lag_after].map(value =>
        h('td', { class: 'number' }, count(value)),
      ),
    ),
  )
  const heads = ['topic', 'partition', 'from', 'to', 'lag then'].map((head, number) =>
    h('th', { scope: 'col', class: number ? 'number' : null }, head),
  )
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What would change' },
    h(
      'table',
      {},
      h('caption', {}, 'Nothing is changed yet. This would be:'),
      h('thead', {}, h('tr', {}, heads)),
      h('tbody', {}, rows),
    ),
  )
}

function checkPartitions(text) {
  return text.trim() === 'all' || numbersOf(text) ? '' : 'Write all, or numbers such as 0,2,5-7.'
}
