// From values to places in a plot, and the round numbers beside its axes. Nothing here draws.

const NICE = [1, 2, 2.5, 5, 10]
/** Five minutes. */
const FEWEST = 30
const STEPS_OF_TIME = [10, 30, 60, 120, 300, 600, 900, 1800, 3600].map(seconds => seconds * 1000)

export function linear([from, to], [start, end]) {
  const span = to - from || 1
  return value => start + ((value - from) / span) * (end - start)
}

/** From 0 to a round number that no value is above. */
export function roundTicks(most, wanted = 4) {
  if (!(most > 0)) return [0, 1]
  const raw = most / wanted
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = NICE.map(each => each * power).find(each => each >= raw * 0.999999)
  const steps = Math.ceil(most / step - 1e-9)
  return Array.from({ length: steps + 1 }, (_, number) => Number((number * step).toPrecision(12)))
}

/** At whole minutes of local time. */
export function timeTicks(from, to, wanted) {
  const step = STEPS_OF_TIME.find(each => (to - from) / each <= wanted) ?? STEPS_OF_TIME.at(-1)
  const shift = new Date(from).getTimezoneOffset() * 60_000
  const first = Math.ceil((from - shift) / step) * step + shift
  const ticks = []
  for (let at = first; at <= to; at += step) ticks.push(at)
  return ticks
}

/** Parts of a line between points that are not known. */
export function runs(points) {
  const found = []
  let open = null
  for (const point of points) {
    if (point[1] === null) open = null
    else if (open) open.push(point)
    else found.push((open = [point]))
  }
  return found
}

export function largest(series) {
  let most = 0
  for (const { points } of series) for (const [, value] of points) if (value > most) most = value
  return most
}

/** The moments of all series, without those before anything was measured; a few are always left. */
export function moments(series) {
  const found = new Set()
  let first = Infinity
  for (const { points } of series) {
    for (const [ms, value] of points) {
      found.add(ms)
      if (value !== null && ms < first) first = ms
    }
  }
  const sorted = [...found].sort((a, b) => a - b)
  const measured = sorted.filter(ms => ms >= first)
  return measured.length < FEWEST ? sorted.slice(-FEWEST) : measured
}

/** The last moment at which any of the series was measured: what is measured now may take a while. */
export function newest(series) {
  let last
  for (const { points } of series) {
    const known = points.findLast(([, value]) => value !== null)
    if (known && !(known[0] <= last)) last = known[0]
  }
  return last
}
