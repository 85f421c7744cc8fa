// Searches records for a text or a pattern. It runs in the broker, tells how far it is, and stops when told.

import { lines, own, path } from './api.js'
import { announce } from './announcer.js'
import { h, hiddenButton, setText } from './dom.js'
import { checkbox, field, form, needed } from './form.js'
import { bytes, count, plural } from './format.js'
import { note } from './place.js'
import { FromField, partitionField } from './positions.js'
import { onwards } from './browsing.js'
import { RecordList } from './record_list.js'
import { saveButton } from './record_details.js'
import { calm, problem } from './view.js'

const MOST = 500
const WHERE = ['key', 'value', 'headers']
const UNTIL = [
  ['', 'the newest'],
  ['offset', 'an offset'],
  ['time', 'a time'],
]

export function searching(view, given) {
  return new Search(view, given)
}

class Search {
  #stopping = null

  constructor(view, { topic, format, asForm, write, head }) {
    const { query } = view
    this.asForm = asForm
    this.view = view
    this.topic = topic
    this.text = field('q', 'Search for', {
      value: query.q ?? '',
      size: 32,
      check: needed('Write what to search for.'),
    })
    this.regex = checkbox('regex', 'as a regular expression (RE2)', query.regex === '1')
    this.where = WHERE.map(each =>
      checkbox(`in-${each}`, each, (query.in ?? 'key,value,headers').split(',').includes(each)),
    )
    this.partition = partitionField(query.partition)
    this.from = new FromField(query.from ?? 'beginning')
    this.to = new FromField(query.to ?? '', { id: 'to', label: 'Until', places: UNTIL })
    this.list = new RecordList(topic, format, { write })
    this.progress = h('progress', {
      max: '1',
      value: 0,
      hidden: true,
      'aria-label': 'How much of it was searched',
    })
    this.said = h('p', { class: 'said' })
    this.failed = problem()
    this.stop = hiddenButton('Stop', () => this.#stop())
    this.onwards = hiddenButton('Search on from there')
    this.saved = saveButton(topic, () => this.list.records)
    this.form = form(
      { id: 'search', class: 'bar' },
      [this.text, this.regex, this.#places(), this.partition, this.from, this.to, ...head],
      'Search',
      () => this.#begin(),
      this.stop,
    )
    this.element = h(
      'div',
      { class: 'reading' },
      this.form,
      this.failed,
      this.progress,
      this.said,
      this.list.element,
      h('div', { class: 'buttons' }, this.onwards, this.saved),
    )
    this.onwards.addEventListener('click', () => view.act(this.failed, () => this.#run(this.next)))
    view.signal.addEventListener('abort', () => this.#stopping?.abort())
    if (query.q) view.act(this.failed, () => this.#begin())
  }

  #places() {
    return {
      element: h(
        'fieldset',
        { class: 'inline' },
        h('legend', {}, 'In'),
        this.where.map(each => each.element),
      ),
    }
  }

  #query() {
    const places = WHERE.filter((_, number) => this.where[number].isOn)
    return {
      q: this.text.value,
      in: (places.length ? places : WHERE).join(','),
      regex: this.regex.isOn ? '1' : '0',
      partition: this.partition.value.trim(),
      from: this.from.value,
      to: this.to.value,
    }
  }

  async #begin() {
    this.list.clear()
    note(this.view.path, { mode: 'search', ...this.#query() })
    await this.#run(this.from.value)
  }

  /** A refusal is told by the form, which began it. */
  async #run(from) {
    this.#stopping?.abort()
    calm(this.failed)
    const stopping = (this.#stopping = new AbortController())
    this.next = from
    this.#running(true)
    try {
      const address = own(path('topics', this.topic, 'search'), {
        ...this.#query(),
        from,
        limit: MOST,
        format: this.asForm,
      })
      for await (const line of lines(address, stopping.signal)) this.#take(line)
    } catch (error) {
      if (!stopping.signal.aborted) {
        setText(this.said, '')
        throw error
      }
    } finally {
      if (this.#stopping === stopping) this.#running(false)
    }
  }

  #take({ record, progress, done, problem }) {
    if (problem) throw new Error(problem.detail)
    if (record) this.list.append([record])
    if (progress) this.#show(progress)
    if (done) this.#done(done)
  }

  #show({ searched, bytes: size, of, at }) {
    this.next = onwards(at)
    this.progress.value = of ? Math.min(1, searched / of) : 0
    setText(
      this.said,
      `Searched ${count(searched)} of about ${plural(of, 'record')} (${bytes(size)}), found ${count(this.list.size)}.`,
    )
  }

  #done({ searched, found, why, at }) {
    this.next = onwards(at)
    const end =
      {
        end: 'to the end',
        limit: 'so many as are shown at a time',
        budget: 'as far as one search may go',
      }[why] ?? why
    setText(this.said, `Searched ${plural(searched, 'record')}, ${end}: found ${count(found)}.`)
    announce(this.said.textContent)
    this.onwards.hidden = why === 'end'
    this.onwards.disabled = false
  }

  #running(isRunning) {
    this.stop.hidden = !isRunning
    this.progress.hidden = !isRunning
    this.form.querySelector('[type=submit]').hidden = isRunning
    if (isRunning) {
      this.onwards.hidden = true
      setText(this.said, 'Searching …')
    }
    this.saved.hidden = this.list.size === 0
  }

  #stop() {
    this.#stopping.abort()
    this.#running(false)
    setText(this.said, `Stopped. Found ${count(this.list.size)} until then.`)
    this.onwards.hidden = false
    this.form.querySelector('[type=submit]').focus()
  }
}
