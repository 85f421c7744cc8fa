// Makes elements without HTML: whatever comes from the broker is put in as text.

const SVG = 'http://www.w3.org/2000/svg'
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'hidden', 'open', 'selected'])

/** `on` holds listeners by event; attributes that are null, undefined or false are left out. */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children)
}

export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children)
}

/** It is shown when there is something to act on. */
export function hiddenButton(text, act = null) {
  return h('button', { type: 'button', hidden: true, on: act ? { click: act } : {} }, text)
}

/** A name from the broker. What is written from right to left does not turn the text around it. */
export function name(text) {
  return h('bdi', { class: 'name' }, text)
}

/** Sets the text only if it differs, so that a selection in it stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

export function setAttribute(element, key, value) {
  if (value === null || value === undefined) element.removeAttribute(key)
  else if (element.getAttribute(key) !== String(value)) element.setAttribute(key, value)
}

export function replace(element, ...children) {
  element.replaceChildren(...present(children))
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) give(element, key, value)
  element.append(...present(children))
  return element
}

function give(element, key, value) {
  if (key === 'on') {
    for (const [event, act] of Object.entries(value)) element.addEventListener(event, act)
  } else if (PROPERTIES.has(key) && key in element) element[key] = value
  else if (value === true) element.setAttribute(key, '')
  else if (value !== null && value !== undefined && value !== false)
    element.setAttribute(key, value)
}

function present(children) {
  return children
    .flat(Infinity)
    .filter(child => child !== null && child !== undefined && child !== false)
}
