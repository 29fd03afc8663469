/** Middle of a list of numbers; `share` 0.95 gives the p95. */
export function quantile(numbers, share = 0.5) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Runs each of `sides` in turn, `rounds` times, so that what disturbs the machine disturbs all alike. Times in ms, by name. */
export async function interleave(sides, { rounds, warmUp = 2 }) {
  const times = Object.fromEntries(Object.keys(sides).map(name => [name, []]))
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(sides)) {
      const start = performance.now()
      const own = await run()
      if (round >= 0) times[name].push(typeof own === 'number' ? own : performance.now() - start)
    }
  }
  return times
}

const number = value => (value >= 100 ? value.toFixed(0) : value.toFixed(2))

/** One line of the table. `limit` is the largest median (or other quantile, `share`) that passes, in the unit of the row; absent: no bar. */
export function line(name, { ours, base, limit, bar, unit = 'ms', share = 0.5 }) {
  const [median, p95] = [quantile(ours), quantile(ours, 0.95)]
  const baseline = base === undefined ? undefined : quantile(base)
  return {
    row: name,
    median: `${number(median)} ${unit}`,
    p95: `${number(p95)} ${unit}`,
    base: baseline === undefined ? '–' : `${number(baseline)} ${unit}`,
    ratio: baseline === undefined ? '–' : (median / baseline).toFixed(2),
    bar,
    result: limit === undefined ? '–' : quantile(ours, share) <= limit ? 'pass' : 'FAIL',
  }
}

/** Rows as a Markdown table, columns padded. */
export function table(rows) {
  const names = ['row', 'median', 'p95', 'base', 'ratio', 'bar', 'result']
  const widths = names.map(name => Math.max(name.length, ...rows.map(row => row[name].length)))
  const format = cells => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`
  return [
    format(names),
    format(widths.map(width => '-'.repeat(width))),
    ...rows.map(row => format(names.map(name => row[name]))),
  ].join('\n')
}
