// Numbers with a name, side by side: updated where they are.

import { h, setAttribute, setText } from './dom.js'

/** Each is `[name, text(data), title(data)?, link?]`. */
export function stats(label, rows) {
  const cells = rows.map(([term, text, title, link]) => {
    const value = h('dd', {})
    const shown = link ? h('a', { href: link }) : h('bdi')
    value.append(shown)
    return { element: h('div', {}, h('dt', {}, term), value), value, shown, text, title }
  })
  const element = h(
    'dl',
    { class: 'stats', 'aria-label': label },
    cells.map(cell => cell.element),
  )
  return { element, update: data => cells.forEach(cell => show(cell, data)) }
}

function show({ value, shown, text, title }, data) {
  setText(shown, String(text(data)))
  if (title) setAttribute(value, 'title', title(data))
}
