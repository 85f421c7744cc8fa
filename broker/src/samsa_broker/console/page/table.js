// A table whose rows are updated where they are: focus, selection and scroll stay.
//
// A column is `{head, text(row)}`, with `link(row)` if its text leads somewhere, `title(row)` for what
// is exact, `number: true` to align it, `wide: true` to leave it out on a narrow screen, `long: true` if it may
// have to be broken anywhere, `sort: NAME` if the broker can sort by it. With `make(current)` it is an element that is made once; `current()`
// is the row as it is now, and `isShown(row)` hides the element where it has no use.

import { h, replace, setAttribute, setText } from './dom.js'

export function table(caption, columns, options = {}) {
  return new Table(caption, columns, options)
}

class Table {
  #rows = new Map()

  constructor(caption, columns, { key = row => row.name, sorting = null, empty = null } = {}) {
    this.columns = columns
    this.key = key
    this.empty = empty
    this.body = h('tbody')
    const heads = h(
      'tr',
      {},
      columns.map(column => headCell(column, sorting)),
    )
    const shown = h(
      'table',
      {},
      h('caption', { class: 'unseen' }, caption),
      h('thead', {}, heads),
      this.body,
    )
    this.scroll = h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
      shown,
    )
    this.instead = h('div', { class: 'empty', hidden: true })
    this.element = h('div', { class: 'table' }, this.scroll, this.instead)
  }

  update(rows) {
    const before = this.#rows
    this.#rows = new Map(
      rows.map(row => [this.key(row), before.get(this.key(row)) ?? this.#made()]),
    )
    for (const [key, old] of before) if (this.#rows.get(key) !== old) old.element.remove()
    for (const row of rows) this.#rows.get(this.key(row)).show(row)
    inOrder(
      this.body,
      [...this.#rows.values()].map(each => each.element),
    )
    this.#showEmpty(rows.length === 0)
  }

  #made() {
    return new Row(this.columns)
  }

  #showEmpty(isEmpty) {
    this.scroll.hidden = isEmpty && this.empty !== null
    this.instead.hidden = !this.scroll.hidden
    if (!this.instead.hidden && !this.instead.firstChild) replace(this.instead, this.empty())
  }
}

class Row {
  constructor(columns) {
    this.row = null
    this.cells = columns.map(column => new Cell(column, () => this.row))
    this.element = h(
      'tr',
      {},
      this.cells.map(cell => cell.element),
    )
  }

  show(row) {
    this.row = row
    for (const cell of this.cells) cell.show(row)
  }
}

class Cell {
  constructor(column, current) {
    this.column = column
    this.current = current
    this.inner = null
    this.element = h(column.isHead ? 'th' : 'td', {
      class: classes(column),
      scope: column.isHead && 'row',
    })
  }

  show(row) {
    this.inner ??= this.#made()
    if (!this.column.make) setText(this.inner, this.column.text(row))
    if (this.column.isShown) this.inner.hidden = !this.column.isShown(row)
    if (this.column.link) setAttribute(this.inner, 'href', this.column.link(row))
    if (this.column.title) setAttribute(this.element, 'title', this.column.title(row))
  }

  #made() {
    const { make, link } = this.column
    const inner = make ? make(this.current) : h(link ? 'a' : 'bdi')
    this.element.append(inner)
    return inner
  }
}

function headCell(column, sorting) {
  const plain = { class: classes(column), scope: 'col' }
  if (!column.sort || !sorting) return h('th', plain, column.head)
  const isBy = sorting.by === column.sort
  const order = sorting.order === 'desc' ? 'descending' : 'ascending'
  const button = h('button', { class: 'sort', id: `sort-${column.sort}` }, column.head)
  const cell = h('th', { ...plain, 'aria-sort': isBy ? order : 'none' }, button)
  button.addEventListener('click', () => {
    const now = sorting.choose(column.sort)
    for (const each of cell.parentElement.querySelectorAll('[aria-sort]'))
      each.setAttribute('aria-sort', 'none')
    cell.setAttribute('aria-sort', now === 'desc' ? 'descending' : 'ascending')
  })
  return cell
}

function classes({ number, wide, mono, long }) {
  return (
    [number && 'number', wide && 'wide', mono && 'mono', long && 'long']
      .filter(Boolean)
      .join(' ') || null
  )
}

/** Moves few: an element that is moved loses the focus, and a selection in it. */
function inOrder(parent, elements) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null
  let at = parent.firstChild
  for (const element of elements) {
    if (at && element === at.nextSibling) {
      parent.append(at) // its own place is further down
      at = element
    }
    if (element === at) at = at.nextSibling
    else parent.insertBefore(element, at)
  }
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true })
}
