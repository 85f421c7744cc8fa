// A field that searches while the user types.

import { field } from './form.js'

const PAUSE_MS = 250

export function searchField(id, label, value, changed) {
  const made = field(id, label, { value, type: 'search', size: 28 })
  let timer = null
  let last = value
  const told = () => {
    clearTimeout(timer)
    if (made.value === last) return
    last = made.value
    changed(last)
  }
  made.input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(told, PAUSE_MS)
  })
  made.input.addEventListener('keydown', event => {
    if (event.key === 'Enter') told()
  })
  return made
}
