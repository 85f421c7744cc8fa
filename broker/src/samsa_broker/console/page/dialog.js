// Dialogs: what cannot be undone is asked first, and forms that are seldom used open in one.

import { path, root, send } from './api.js'
import { announce } from './announcer.js'
import { h, name, replace } from './dom.js'
import { go } from './place.js'
import { calm, problem, tell } from './view.js'

/** Opens it; the element that had the focus has it again afterwards. Gives the function that closes it. */
export function openDialog(title, signal, ...content) {
  const heading = h('h2', { id: 'dialog-title', tabindex: '-1' }, title)
  const close = h('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, '×')
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'dialog-title' },
    h('div', { class: 'dialog-head' }, heading, close),
    content,
  )
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  signal.addEventListener('abort', () => dialog.close())
  document.body.append(dialog)
  dialog.showModal()
  const first = dialog.querySelector('input, select, textarea')
  ;(first ?? heading).focus()
  return () => dialog.close()
}

/** Does `act` if the user says so; a refusal is told inside, and the dialog stays. */
export function confirm(title, question, verb, signal, act) {
  const failed = problem()
  const sure = h('button', { type: 'button', class: 'danger' }, verb)
  const not = h('button', { type: 'button' }, 'Cancel')
  const close = openDialog(
    title,
    signal,
    h('p', {}, question),
    failed,
    h('div', { class: 'buttons' }, sure, not),
  )
  not.addEventListener('click', close)
  sure.addEventListener('click', async () => {
    sure.disabled = true
    calm(failed)
    try {
      await act()
      close()
    } catch (error) {
      tell(failed, error)
      sure.disabled = false
    }
  })
}

/** `what` is a topic or a group; `more` says what goes with it. Then the view of all of them is shown. */
export function confirmDelete(view, what, named, more) {
  const question = [`Delete the ${what} `, name(named), ` ${more}`]
  confirm(`Delete the ${what}?`, question, 'Delete it', view.signal, async () => {
    await send('DELETE', root(path(`${what}s`, named)), undefined, view.signal)
    announce(`The ${what} ${named} is deleted.`)
    go([`${what}s`])
  })
}

/** A part of a page under a heading of its own. */
export function section(title, ...content) {
  return h('section', {}, h('h2', {}, title), content)
}

export function facts() {
  const element = h('dl', { class: 'facts' })
  const update = pairs =>
    replace(
      element,
      pairs.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value))),
    )
  return { element, update }
}
