// Plots of what the broker has kept for an hour.

import { get, own } from './api.js'
import { chart } from './chart.js'
import { h } from './dom.js'
import { problem } from './view.js'

const EVERY_MS = 10_000

/** Of the series of a process and of a topic; those of a group have names of topics. */
const NAMES = {
  bytes_in: 'written',
  bytes_out: 'read',
  records_in: 'written',
  storage: 'stored',
  bytes: 'written',
  records: 'written',
}

/** `asked` are queries of `history`, whose series are drawn together; `unit` goes before theirs. */
export function historyChart(view, title, asked, { chosen = () => true, unit = null } = {}) {
  const plot = chart(title, view.signal)
  const failed = problem()
  const load = async signal => {
    const answers = await Promise.all(asked.map(query => get(own('history', query), signal)))
    const series = answers.flatMap(answer => answer.series).filter(each => chosen(each.name))
    plot.update(
      series.map(each => ({ ...each, name: named(asked, each.name) })),
      unit ?? answers[0].unit,
    )
  }
  const reload = view.every(EVERY_MS, load, failed)
  return { element: h('div', { class: 'with-problem' }, plot.element, failed), reload }
}

function named([{ metric }], name) {
  return metric !== 'group_lag' && Object.hasOwn(NAMES, name) ? NAMES[name] : name
}
