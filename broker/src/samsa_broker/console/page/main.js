// Shows the view that the hash names.

import { get, own, reach, root, Unreachable } from './api.js'
import { watchReach } from './banner.js'
import { h, replace } from './dom.js'
import { here } from './place.js'
import { View } from './view.js'
import { configsView } from './view_configs.js'
import { costView } from './view_cost.js'
import { groupView } from './view_group.js'
import { groupsView } from './view_groups.js'
import { overviewView } from './view_overview.js'
import { recordsView } from './view_records.js'
import { schemasView } from './view_schemas.js'
import { securityView } from './view_security.js'
import { topicView } from './view_topic.js'
import { topicsView } from './view_topics.js'
import { transactionsView } from './view_transactions.js'

const PLAIN = {
  overview: overviewView,
  transactions: transactionsView,
  security: securityView,
  cost: costView,
  schemas: schemasView,
}
const OF_A_TOPIC = new Map([
  [undefined, topicView],
  ['records', recordsView],
  ['configs', configsView],
])
let shown = null

function chosen([first = 'overview', second, third]) {
  if (first === 'topics')
    return second === undefined ? topicsView : (OF_A_TOPIC.get(third) ?? unknownView)
  if (first === 'groups') return second === undefined ? groupsView : groupView
  return Object.hasOwn(PLAIN, first) ? PLAIN[first] : unknownView
}

function unknownView(view) {
  view.element.append(
    view.title('No such page'),
    h('p', {}, 'Nothing is at this address. The views are above.'),
  )
}

function show() {
  const place = here()
  const main = document.getElementById('main')
  const samePath = shown !== null && shown.path.join('/') === place.path.join('/')
  const focused = samePath ? document.activeElement?.id : null
  shown?.leave()
  const view = new View(h('div', { class: 'view' }), place)
  chosen(place.path)(view)
  main.replaceChildren(view.element)
  markNav(place.path[0] ?? 'overview')
  const isFirst = shown === null
  shown = view
  if (!isFirst) focus(view, focused)
}

/** On another view the focus goes to its heading; on the same one it stays where it was. */
function focus(view, id) {
  const same = id && document.getElementById(id)
  if (same) same.focus({ preventScroll: true })
  else {
    view.heading.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }
}

function markNav(first) {
  for (const each of document.querySelectorAll('#nav a')) {
    if (each.getAttribute('href') === `#/${first}`) each.setAttribute('aria-current', 'page')
    else each.removeAttribute('aria-current')
  }
}

/** The hash is the address of a view, so that this link cannot use it. */
function skipToContent() {
  document.getElementById('skip').addEventListener('click', event => {
    event.preventDefault()
    document.getElementById('main').focus()
  })
}

/** What only a broker itself can tell is left out elsewhere. */
async function nameCluster() {
  try {
    const found = await get(own('overview'))
    inNav('cost').hidden = !found.features.cost
    replace(
      document.getElementById('cluster'),
      found.version,
      h('span', { class: 'wide' }, `, cluster ${found.cluster_id}`),
    )
  } catch (error) {
    if (error instanceof Unreachable) reach.addEventListener('found', nameCluster, { once: true })
  }
}

async function showSchemas() {
  try {
    await get(root('subjects'))
    inNav('schemas').hidden = false
  } catch (error) {
    // A refusal means that there is no registry here.
    if (error instanceof Unreachable) reach.addEventListener('found', showSchemas, { once: true })
  }
}

function inNav(view) {
  return document.querySelector(`#nav [href="#/${view}"]`).parentElement
}

watchReach()
skipToContent()
window.addEventListener('hashchange', show)
show()
nameCluster()
showSchemas()
