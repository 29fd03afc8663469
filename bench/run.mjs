// `npm run bench [-- ROW …] [--peers]`: measures, prints the table, and ends with 1 when a bar was missed.
import { cpus } from 'node:os'
import { table } from './measure.mjs'
import { measurePeers } from './peers.mjs'
import { ROWS } from './rows.mjs'

const args = process.argv.slice(2)
const asked = args.filter(arg => !arg.startsWith('--'))
const unknown = [...asked.filter(name => !(name in ROWS)), ...args.filter(arg => arg.startsWith('--') && arg !== '--peers')]
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Rows: ${Object.keys(ROWS).join(', ')}; --peers measures other servers.\n`)
  process.exit(2)
}

process.stdout.write(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores\n\n`)
const rows = []
for (const [name, run] of Object.entries(ROWS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stderr.write(`measuring ${name}…\n`)
  try {
    rows.push(...(await run()))
  } catch (error) {
    rows.push({ row: name, median: '–', p95: '–', base: '–', ratio: '–', bar: error.message.split('\n')[0], result: 'FAIL' })
  }
}
process.stdout.write(`${table(rows)}\n\n`)
for (const { row, result, median, p95, ratio, bar } of rows) {
  process.stdout.write(`${result.padEnd(4)}  ${row}: ${ratio === '–' ? `${median}, p95 ${p95}` : `${ratio} ×`} (${bar})\n`)
}
if (args.includes('--peers')) process.stdout.write(`\nPeers\n\n${await measurePeers()}\n`)
process.exitCode = rows.some(row => row.result === 'FAIL') ? 1 : 0
