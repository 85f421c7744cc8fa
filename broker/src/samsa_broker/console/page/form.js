// Fields with a label, a hint and a sentence about what is wrong; and forms made of them.

import { h, setText } from './dom.js'
import { calm, problem, tell } from './view.js'

/** `check(text)` tells what is wrong, or nothing. `options` are `[value, text]` and make it a choice. */
export function field(id, label, options = {}) {
  return new Field(id, label, options)
}

class Field {
  constructor(id, label, { hint, check, value = '', options, lines, ...attributes }) {
    this.check = check
    const told = {
      id,
      value,
      'aria-describedby': `${id}-wrong${hint ? ` ${id}-hint` : ''}`,
      ...attributes,
    }
    this.input = control(told, options, lines)
    this.wrong = h('span', { class: 'wrong', id: `${id}-wrong`, 'aria-live': 'polite' })
    const hinted = hint ? h('span', { class: 'hint', id: `${id}-hint` }, hint) : null
    this.element = h(
      'div',
      { class: lines ? 'field tall' : 'field' },
      h('label', { for: id }, label),
      this.input,
      hinted,
      this.wrong,
    )
    this.input.addEventListener('input', () => this.say(''))
  }

  get value() {
    return this.input.value
  }

  set value(text) {
    this.input.value = text
  }

  isGood() {
    // A number field tells no text if it holds something else.
    const unreadable = this.input.validity?.badInput ? 'This cannot be read.' : ''
    this.say(unreadable || this.check?.(this.input.value) || '')
    return !this.wrong.textContent
  }

  say(sentence) {
    setText(this.wrong, sentence)
    if (sentence) this.input.setAttribute('aria-invalid', 'true')
    else this.input.removeAttribute('aria-invalid')
  }
}

function control({ value, ...attributes }, options, lines) {
  if (lines) return h('textarea', { rows: lines, spellcheck: 'false', ...attributes, value })
  if (!options)
    return h('input', {
      autocomplete: 'off',
      spellcheck: 'false',
      type: 'text',
      ...attributes,
      value,
    })
  return h(
    'select',
    { ...attributes, value: undefined },
    options.map(([each, text]) => h('option', { value: each, selected: each === value }, text)),
  )
}

export function checkbox(id, label, checked = false) {
  const input = h('input', { type: 'checkbox', id, checked })
  return {
    input,
    element: h('label', { class: 'check', for: id }, input, ' ', label),
    get isOn() {
      return input.checked
    },
  }
}

/** Nothing is sent unless every field is good; a refusal is told below. `act` gets the button. */
export function form(attributes, fields, submit, act, ...buttons) {
  const failed = problem()
  const button = h('button', { type: 'submit', class: 'primary' }, submit)
  const element = h(
    'form',
    { novalidate: true, ...attributes },
    fields.map(each => each.element ?? each),
    h('div', { class: 'buttons' }, button, buttons),
    failed,
  )
  element.addEventListener('submit', event => {
    event.preventDefault()
    if (allGood(fields)) tried(() => act(event.submitter), failed, button)
  })
  return element
}

export function allGood(fields) {
  const bad = fields.filter(each => each.isGood && !each.isGood())
  bad[0]?.input.focus()
  return bad.length === 0
}

async function tried(act, failed, button) {
  if (button.getAttribute('aria-disabled')) return
  button.setAttribute('aria-disabled', 'true') // it keeps the focus
  calm(failed)
  try {
    await act()
  } catch (error) {
    if (error.name !== 'AbortError') tell(failed, error)
  } finally {
    button.removeAttribute('aria-disabled')
  }
}

export function wholeNumber(least, most, what = 'This') {
  return text => {
    const good = /^-?\d{1,19}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most
    return good
      ? ''
      : `${what} is a whole number${most < Infinity ? ` from ${least} to ${most}` : `, ${least} or more`}.`
  }
}

export function optional(check) {
  return text => (text.trim() === '' ? '' : check(text))
}

export function needed(sentence) {
  return text => (text === '' ? sentence : '')
}
