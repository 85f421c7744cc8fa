// Tells a screen reader what changed. Seldom, and only what was asked for.

export function announce(text) {
  const place = document.getElementById('announcer')
  // The same text twice is no change, unless it was away between.
  place.textContent = ''
  requestAnimationFrame(() => {
    place.textContent = text
  })
}
