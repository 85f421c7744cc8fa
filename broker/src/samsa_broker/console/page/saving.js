// To the clipboard, and into files.

import { announce } from './announcer.js'
import { h } from './dom.js'

export function copyButton(label, text) {
  const button = h('button', { type: 'button' }, label)
  button.addEventListener('click', async () => {
    const went = await copied(text())
    button.textContent = went ? 'Copied' : 'The browser does not allow it'
    announce(button.textContent)
    setTimeout(() => {
      button.textContent = label
    }, 1500)
  })
  return button
}

/** `parts` are texts or bytes, which a browser saves under this name. */
export function save(name, parts, type = 'application/json') {
  const address = URL.createObjectURL(new Blob(parts, { type }))
  const anchor = h('a', { href: address, download: name })
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Pages that came by http:// from another machine have no clipboard of the new kind. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copiedTheOldWay(text)
  }
}

function copiedTheOldWay(text) {
  const area = h('textarea', { class: 'unseen', value: text, 'aria-hidden': 'true' })
  const place = document.querySelector('dialog[open]') ?? document.body
  const focused = document.activeElement
  place.append(area)
  area.select()
  const went = document.execCommand('copy')
  area.remove()
  focused?.focus()
  return went
}
