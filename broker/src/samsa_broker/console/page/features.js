// What this broker can tell: asked once for each page load, and again until it is known.

import { get, own, reach, Refusal } from './api.js'
import { h } from './dom.js'

let known = null
// What comes back may be another version, with other flags.
reach.addEventListener('found', () => {
  known = null
})

/** Calls `then` with the features as soon as they are known. */
export async function features(view, then) {
  for (;;) {
    try {
      const found = await asked(view.signal)
      if (!view.signal.aborted) then(found)
      return
    } catch (error) {
      if (view.signal.aborted || error instanceof Refusal) return
      await new Promise(resolve => {
        setTimeout(resolve, 2000)
      })
    }
  }
}

/**
 * A place for plots. `begin` adds them, once, if the broker keeps an hour: it is called when what they
 * are about was found, so that a name that does not exist is told once and not by each of them.
 */
export function plotsOnDemand(view, made) {
  const element = h('div', { class: 'plots' })
  let isBegun = false
  const begin = () => {
    if (isBegun) return
    isBegun = true
    features(view, ({ history }) => {
      if (history) element.append(...made())
    })
  }
  return { element, begin }
}

/** From an overview that came anyway. */
export function learn(overview) {
  known = overview.features
}

async function asked(signal) {
  if (known === null) learn(await get(own('overview'), signal))
  return known
}
