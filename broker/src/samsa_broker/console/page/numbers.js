// `0,2,5-7` as numbers.

const MOST = 100_000

/** Null if it is nothing of the kind. */
export function numbersOf(text) {
  const found = new Set()
  for (const part of text.split(',')) {
    const range = /^\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?$/.exec(part)
    if (!range) return null
    const [from, to] = [Number(range[1]), Number(range[2] ?? range[1])]
    if (to < from || to - from >= MOST) return null
    for (let each = from; each <= to; each += 1) found.add(each)
    if (found.size > MOST) return null
  }
  return [...found].sort((a, b) => a - b)
}
