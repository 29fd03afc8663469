#!/usr/bin/env node
// `npm start`, `npm test`, `npm run bench`: installs and builds what is missing, then does it. Node's own modules only.
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, nodeComplaint, ROOT } from './ensure.mjs'
import { foreground } from './foreground.mjs'
import { test } from './test.mjs'
import { withoutNpm } from './without-npm.mjs'

const HELP = `usage: node scripts/run.mjs start|test|bench [arguments]

  start [FLAGS]   serve MCP over HTTP on loopback; flags go to \`atelier http\` (see --help)
  test            types, lint, unused code, then every test that this machine can run
    --unit          unit and architecture tests only
    --local         requirements on the local backend only
    --requirements  requirements on every backend
    FILTER          only test files whose path contains it
  bench           the figures of bench/README.md; --peers measures other servers, NAME one row
`
const log = text => process.stderr.write(`${text}\n`)

async function main([command, ...args]) {
  if (!['start', 'test', 'bench'].includes(command)) {
    process.stderr.write(HELP)
    return command === '--help' || command === '-h' ? 0 : 2
  }
  const complaint = nodeComplaint()
  if (complaint) throw new Error(complaint)
  ensureInstalled(log)
  await ensureBuilt(log)
  if (command === 'start') {
    return foreground(process.execPath, [join(ROOT, 'dist/loader.cjs'), 'http', ...args], withoutNpm(process.env, ROOT))
  }
  if (command === 'bench') return foreground(process.execPath, [join(ROOT, 'bench/run.mjs'), ...args])
  return test(args)
}

process.exitCode = await main(process.argv.slice(2)).catch(error => {
  log(error.message)
  return 1
})
