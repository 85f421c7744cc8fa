// The form that writes a record.

import { path, root, send } from './api.js'
import { announce } from './announcer.js'
import { contentField } from './content_field.js'
import { openDialog } from './dialog.js'
import { h } from './dom.js'
import { field, form, optional, wholeNumber } from './form.js'
import { headerFields } from './header_fields.js'
import { link } from './place.js'

const NOTHING = new Uint8Array()

/** Filled with `record`, if one is given. */
export function openWriting(topic, signal, record) {
  const key = contentField('write-key', 'Key', record ? record.keyBytes : NOTHING, {
    lines: 1,
    isNullIfEmpty: !record,
  })
  const value = contentField('write-value', 'Value', record ? record.valueBytes : NOTHING, {
    lines: 8,
  })
  const headers = headerFields(record?.headers ?? [])
  const partition = field('write-partition', 'Partition', {
    value: record ? String(record.partition) : '',
    size: 6,
    hint: 'by the key’s hash, if empty',
    check: optional(wholeNumber(0, 99_999, 'A partition')),
  })
  const timestamp = field('write-timestamp', 'Timestamp', {
    size: 15,
    hint: 'ms since 1970; now, if empty',
    check: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER, 'A timestamp')),
  })
  const said = h('p', { role: 'status' })
  const fields = [...key.fields, ...value.fields, headers, partition, timestamp]

  async function write() {
    const drafted = {
      key: key.told(),
      value: value.told(),
      headers: headers.told(),
      ...numbers({ partition, timestamp }),
    }
    const { records } = await send(
      'POST',
      root(path('topics', topic, 'records')),
      { records: [drafted] },
      signal,
    )
    const [stored] = records
    announce(`Stored in partition ${stored.partition} at offset ${stored.offset}.`)
    said.replaceChildren(
      'Stored in partition ',
      String(stored.partition),
      ' at offset ',
      h(
        'a',
        {
          href: link(['topics', topic, 'records'], {
            partition: stored.partition,
            from: stored.offset,
            limit: 1,
          }),
        },
        String(stored.offset),
      ),
      '.',
    )
  }

  openDialog(
    'Write a record',
    signal,
    record?.truncated &&
      h(
        'p',
        { class: 'note' },
        'The record was cut where it was shown: the copy would be cut, too.',
      ),
    form({ id: 'write', class: 'stack' }, fields, 'Write', write),
    said,
  )
}

function numbers(fields) {
  const given = Object.entries(fields).filter(([, each]) => each.value.trim() !== '')
  return Object.fromEntries(given.map(([key, each]) => [key, Number(each.value)]))
}
