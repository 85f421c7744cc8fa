// The colours that were chosen last. This runs before the page is drawn, so that it does not flash.
;(() => {
  const KEY = 'samsa-theme'

  function apply(theme) {
    if (theme === 'system') document.documentElement.removeAttribute('data-theme')
    else document.documentElement.setAttribute('data-theme', theme)
  }

  function remembered() {
    try {
      return localStorage.getItem(KEY) ?? 'system'
    } catch {
      return 'system' // the browser refuses to keep anything for this page
    }
  }

  function choose(theme) {
    apply(theme)
    try {
      localStorage.setItem(KEY, theme)
    } catch {
      // It is in force until the page is loaded again.
    }
  }

  apply(remembered())
  document.addEventListener('DOMContentLoaded', () => {
    const select = document.getElementById('theme')
    select.value = remembered()
    select.addEventListener('change', () => choose(select.value))
  })
})()
