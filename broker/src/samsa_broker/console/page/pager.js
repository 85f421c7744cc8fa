// Steps through a list that the broker pages: it never comes whole.

import { h, setText } from './dom.js'
import { count, plural } from './format.js'

/** `turned(offset)` is called when another page is asked for. */
export function pager(limit, what, turned) {
  return new Pager(limit, what, turned)
}

class Pager {
  offset = 0

  constructor(limit, what, turned) {
    this.limit = limit
    this.what = what
    this.turned = turned
    this.said = h('span', { role: 'status' })
    this.before = h(
      'button',
      { type: 'button', on: { click: () => this.#turn(-1) } },
      'Previous page',
    )
    this.after = h('button', { type: 'button', on: { click: () => this.#turn(1) } }, 'Next page')
    this.element = h('div', { class: 'pager' }, this.said, this.before, this.after)
  }

  /** Whether there is such a page; after a deletion there may be none, and the last one is asked for. */
  update(total) {
    const last = Math.max(0, Math.floor((total - 1) / this.limit) * this.limit)
    if (this.offset > last) {
      this.offset = last
      this.turned(last)
      return false
    }
    this.#show(total)
    return true
  }

  restart() {
    this.offset = 0
  }

  #show(total) {
    const until = Math.min(total, this.offset + this.limit)
    const range = total > this.limit ? `${count(this.offset + 1)}–${count(until)} of ` : ''
    setText(this.said, range + plural(total, this.what))
    this.before.hidden = this.after.hidden = total <= this.limit
    disable(this.before, this.offset === 0)
    disable(this.after, until >= total)
  }

  #turn(by) {
    const button = by < 0 ? this.before : this.after
    if (button.ariaDisabled === 'true') return
    this.offset = Math.max(0, this.offset + by * this.limit)
    this.turned(this.offset)
  }
}

/** A button with `disabled` loses the focus: a keyboard user would lose the place on the last page. */
function disable(button, isDisabled) {
  button.ariaDisabled = isDisabled ? 'true' : null
}
