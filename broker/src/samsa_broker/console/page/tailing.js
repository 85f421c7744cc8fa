// The live tail: records as they come, newest on top, until it is stopped.

import { lines, own, path, reach, Unreachable } from './api.js'
import { announce } from './announcer.js'
import { h, hiddenButton, setText } from './dom.js'
import { form } from './form.js'
import { count, plural } from './format.js'
import { partitionField } from './positions.js'
import { RecordList } from './record_list.js'
import { saveButton } from './record_details.js'
import { calm, problem, tell } from './view.js'

const MOST_ROWS = 500
const DRAW_EVERY_MS = 200
const ANNOUNCE_EVERY_MS = 10_000

export function tailing(view, given) {
  return new Tail(view, given)
}

class Tail {
  #waiting = []
  #stopping = null
  #came = 0
  #missed = 0
  #told = 0
  #announcedAt = 0

  constructor(view, { topic, format, asForm, write, head }) {
    this.asForm = asForm
    this.topic = topic
    this.partition = partitionField(view.query.partition)
    this.list = new RecordList(topic, format, { most: MOST_ROWS, write })
    this.failed = problem()
    this.said = h('p', { class: 'said' })
    this.stop = hiddenButton('Stop', () => this.#stop())
    this.saved = saveButton(topic, () => this.list.records)
    this.form = form(
      { id: 'tail', class: 'bar' },
      [this.partition, ...head],
      'Follow',
      () => this.#follow(),
      this.stop,
    )
    this.element = h(
      'div',
      { class: 'reading' },
      this.form,
      this.failed,
      this.said,
      this.list.element,
      h('div', { class: 'buttons' }, this.saved),
    )
    view.signal.addEventListener('abort', () => this.#stopping?.abort())
    this.#follow()
  }

  async #follow() {
    this.#stopping?.abort()
    if (!this.partition.isGood()) return
    const stopping = (this.#stopping = new AbortController())
    calm(this.failed)
    this.list.clear()
    this.#waiting = []
    this.#came = this.#missed = 0
    this.#running(true)
    const drawing = setInterval(() => this.#draw(), DRAW_EVERY_MS)
    try {
      await this.#read(stopping.signal)
    } catch (error) {
      if (!stopping.signal.aborted) tell(this.failed, error)
    } finally {
      clearInterval(drawing)
      this.#draw()
      if (this.#stopping === stopping) this.#running(false)
    }
  }

  /** Goes on by itself when a broker that was lost is back. */
  async #read(signal) {
    const address = own(path('topics', this.topic, 'tail'), {
      partition: this.partition.value.trim(),
      format: this.asForm,
    })
    while (!signal.aborted) {
      try {
        for await (const line of lines(address, signal)) this.#take(line)
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
      }
      if (!signal.aborted) await backOrEnded(signal)
    }
  }

  #take(line) {
    if (line.problem) throw new Error(line.problem.detail)
    if (line.skipped) this.#missed += line.skipped
    if (!line.record) return
    this.#came += 1
    this.#waiting.push(line.record)
    // While the page is hidden, records beyond those that it shows are not kept.
    if (this.#waiting.length > 2 * MOST_ROWS) this.#waiting.splice(0, MOST_ROWS)
  }

  #draw() {
    if (this.#waiting.length) this.list.prepend(this.#waiting)
    this.#waiting = []
    this.saved.hidden = this.list.size === 0
    setText(this.said, this.#words())
    if (this.#came > this.#told && Date.now() - this.#announcedAt > ANNOUNCE_EVERY_MS) {
      announce(`${plural(this.#came - this.#told, 'new record')}`)
      this.#told = this.#came
      this.#announcedAt = Date.now()
    }
  }

  #words() {
    const skipped = this.#missed
      ? ` ${count(this.#missed)} were skipped: they come faster than this page can read.`
      : ''
    const older =
      this.#came > this.list.size ? ` The newest ${count(this.list.size)} are here.` : ''
    const state = this.stop.hidden ? 'Stopped. ' : 'Following. '
    return `${state}${this.#came ? `${plural(this.#came, 'record')} came.` : 'No record came yet.'}${older}${skipped}`
  }

  #running(isRunning) {
    this.stop.hidden = !isRunning
    this.form.querySelector('[type=submit]').hidden = isRunning
    this.#draw()
  }

  #stop() {
    this.#stopping.abort()
    this.#running(false)
    this.form.querySelector('[type=submit]').focus()
  }
}

function backOrEnded(signal) {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(soon)
      resolve()
    }
    const soon = setTimeout(done, 2000)
    reach.addEventListener('found', done, { once: true, signal })
    signal.addEventListener('abort', done, { once: true })
  })
}
