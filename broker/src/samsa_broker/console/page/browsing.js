// Reads a page of records from a place on, and more of them on demand.

import { get, own, path } from './api.js'
import { announce } from './announcer.js'
import { h, hiddenButton, setText } from './dom.js'
import { field, form, wholeNumber } from './form.js'
import { plural } from './format.js'
import { go } from './place.js'
import { FromField, partitionField } from './positions.js'
import { RecordList } from './record_list.js'
import { saveButton } from './record_details.js'
import { problem } from './view.js'

const MOST = 1000

export function browsing(view, { topic, format, asForm, write, head }) {
  const { query } = view
  const partition = partitionField(query.partition)
  const from = new FromField(query.from)
  const key = field('key', 'Key', { value: query.key ?? '', hint: 'only records with it' })
  const limit = field('limit', 'At most', {
    value: query.limit ?? '50',
    inputmode: 'numeric',
    size: 5,
    check: wholeNumber(1, MOST),
  })
  const list = new RecordList(topic, format, { write })
  const failed = problem()
  const said = h('p', { role: 'status', class: 'said' })
  const more = hiddenButton('Read more')
  const saved = saveButton(topic, () => list.records)
  const fields = [partition, from, key, limit]
  let asked = {
    partition: query.partition ?? 'all',
    from: query.from ?? 'end',
    key: query.key,
    limit: query.limit ?? '50',
    format: asForm,
  }

  async function read(signal) {
    const answer = await get(own(path('topics', topic, 'records'), asked), signal)
    list.append(answer.records)
    const from = onwards(answer.next)
    const isMore = from !== asked.from && isBeforeEnd(answer)
    asked = { ...asked, from }
    more.hidden = !isMore
    saved.hidden = list.size === 0
    setText(
      said,
      list.size
        ? `${plural(list.size, 'record')}${isMore ? '' : ', and no more there'}`
        : nothing(answer),
    )
  }

  more.addEventListener('click', async () => {
    const before = list.size
    await view.act(failed, read)
    announce(`${plural(list.size - before, 'more record')}`)
  })
  view.act(failed, read)
  const submit = () =>
    go(view.path, {
      mode: 'browse',
      partition: partition.value.trim(),
      from: from.value,
      key: key.value,
      limit: limit.value.trim(),
      format: query.format,
    })
  return {
    list,
    element: h(
      'div',
      { class: 'reading' },
      form({ id: 'browse', class: 'bar' }, [...fields, ...head], 'Read', submit),
      failed,
      said,
      list.element,
      h('div', { class: 'buttons' }, more, saved),
    ),
  }
}

/** `0:17,1:4`: where each partition goes on. */
export function onwards(next) {
  return Object.entries(next)
    .map(([partition, offset]) => `${partition}:${offset}`)
    .join(',')
}

/** `<0` reads backwards, and is the beginning. */
function isBeforeEnd({ next, ends }) {
  return Object.entries(next).some(([partition, place]) =>
    typeof place === 'string' ? place !== '<0' : place < ends[partition],
  )
}

function nothing({ ends }) {
  const isEmpty = Object.values(ends ?? {}).every(end => end === 0)
  return isEmpty
    ? 'There are no records yet. Write one, or follow the live tail.'
    : 'No records there. Try from the oldest, or another time.'
}
