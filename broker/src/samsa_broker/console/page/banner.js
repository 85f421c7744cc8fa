// Says that the broker is not reachable, and asks until it is.

import { get, own, reach } from './api.js'
import { announce } from './announcer.js'
import { clock } from './format.js'

const TRY_EVERY_MS = 2000

export function watchReach() {
  const banner = document.getElementById('banner')
  reach.addEventListener('lost', ({ detail: since }) => {
    const at = clock(since)
    banner.textContent = `The broker is not reachable since ${at}, trying again. What is shown is from before.`
    banner.hidden = false
    setTimeout(tryAgain, TRY_EVERY_MS)
  })
  reach.addEventListener('found', () => {
    banner.hidden = true
    banner.textContent = ''
    announce('The broker is reachable again.')
  })
}

async function tryAgain() {
  try {
    await get(own('overview'))
  } catch {
    // A refusal has told `found` already.
  }
  const banner = document.getElementById('banner')
  if (!banner.hidden) setTimeout(tryAgain, TRY_EVERY_MS)
}
