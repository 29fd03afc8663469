#!/usr/bin/env node
// `npm start`, `npm test`, `npm run bench`: installs and builds what is missing, then does it. Node's own modules only.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ensureBuilt, ensureInstalled, nodeComplaint, ROOT } from './ensure.mjs'
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
const CHECKS = [
  ['types', 'tsc', ['--noEmit']],
  ['lint', 'biome', ['check']],
  ['unused code', 'knip', []],
]

const log = text => process.stderr.write(`${text}\n`)
const bin = name => join(ROOT, 'node_modules/.bin', name)

/** Runs a program in the foreground and hands signals on, so that Ctrl-C ends it as if it had been started directly. */
async function foreground(command, args, env = process.env) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env })
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)))
  })
}

function runChecks() {
  return CHECKS.map(([name, tool, args]) => {
    const run = spawnSync(bin(tool), args, { cwd: ROOT, encoding: 'utf8' })
    const passed = run.status === 0
    process.stdout.write(`${passed ? '✓' : '✗'} ${name}\n${passed ? '' : `${run.stdout}${run.stderr}\n`}`)
    return { name, passed }
  })
}

/** Splits the arguments of `test` into vitest's and the backends to run on. */
function selection(args) {
  const projects = []
  const rest = []
  let backends = ''
  for (const arg of args) {
    if (arg === '--unit') projects.push('unit')
    else if (arg === '--requirements') projects.push('requirements')
    else if (arg === '--local') {
      projects.push('requirements')
      backends = 'local'
    } else rest.push(arg)
  }
  return { whole: args.length === 0, backends, vitest: [...new Set(projects)].flatMap(name => ['--project', name]).concat(rest) }
}

async function test(args) {
  const { whole, backends, vitest } = selection(args)
  const checks = whole ? runChecks() : []
  const env = { ...process.env, ...(backends && { ATELIER_TEST_BACKENDS: backends }) }
  const first = await runTests(vitest, env)
  const files = process.env.CI === undefined ? first.files : await secondTry(first.files, env)
  const sum = key => files.reduce((total, file) => total + file[key], 0)
  const checked = passed => checks.filter(check => check.passed === passed).length
  const failed = sum('failed') + first.unhandled + checked(false)
  return report({
    passed: sum('passed') + checked(true),
    // A run that says it failed and tells of no failure has failed.
    failed: failed === 0 && first.code !== 0 && files === first.files ? 1 : failed,
    skips: files.flatMap(file => file.skips),
    retried: files.flatMap(file => file.retried),
  })
}

/** One run of vitest: what each file came to, errors that belong to none, and the exit code. */
async function runTests(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-tests-'))
  const summary = join(folder, 'summary.json')
  const code = await foreground(bin('vitest'), ['run', ...args], { ...env, ATELIER_TEST_SUMMARY: summary })
  try {
    return { code, ...JSON.parse(readFileSync(summary, 'utf8')) }
  } catch {
    log('The test run ended without a summary.')
    return { code, files: [], unhandled: 1 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A busy build machine may fail a file that is sound: those that failed run once more, one after the other, and it is told. */
async function secondTry(files, env) {
  const failed = files.filter(file => file.failed > 0)
  if (failed.length === 0) return files
  log(`Failed, and tried once more: ${failed.map(file => relative(ROOT, file.file)).join(', ')}`)
  const again = await runTests([...failed.map(file => file.file), '--no-file-parallelism'], env)
  return files.map(file => {
    const second = again.files.find(other => other.file === file.file)
    if (file.failed === 0 || second === undefined) return file
    return { ...second, retried: [...second.retried, `${relative(ROOT, file.file)} (the whole file)`] }
  })
}

function report({ passed, failed, skips, retried }) {
  if (retried.length > 0) process.stdout.write('\nPassed only when tried again:\n')
  for (const name of retried) process.stdout.write(`  ${name}\n`)
  const reasons = new Map()
  for (const { reason } of skips) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  if (reasons.size > 0) process.stdout.write('\nSkipped:\n')
  for (const [reason, count] of reasons) process.stdout.write(`  ${count} × ${reason}\n`)
  process.stdout.write(`\n${passed} passed, ${failed} failed, ${skips.length} skipped\n`)
  return failed === 0 && passed > 0 ? 0 : 1
}

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
