// `npm test`: the checks, one run of vitest, a second try of what failed on a build machine, and the closing line.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ROOT } from './ensure.mjs'
import { foreground } from './foreground.mjs'

const CHECKS = [
  ['types', 'tsc', ['--noEmit']],
  ['lint', 'biome', ['check']],
  ['unused code', 'knip', []],
]
/** Characters of a failure's message in the closing list; the run above it has the whole. */
const MESSAGE_LENGTH = 300

const log = text => process.stderr.write(`${text}\n`)
const print = text => process.stdout.write(`${text}\n`)
const bin = name => join(ROOT, 'node_modules/.bin', name)
const short = file => relative(ROOT, file)

/** Runs what `args` asks for; gives the exit code. */
export async function test(args) {
  const { whole, backends, vitest } = selection(args)
  const checks = whole ? runChecks() : { passed: 0, failures: [] }
  const env = { ...process.env, ...(backends && { ATELIER_TEST_BACKENDS: backends }) }
  const first = await runTests(vitest, env)
  const { files, unhandled } = process.env.CI === undefined ? first : await secondTry(first, env)
  const failures = [...checks.failures, ...unhandled, ...files.flatMap(failuresOf)]
  if (failures.length === 0 && first.code !== 0 && files === first.files) {
    failures.push({ name: 'vitest', message: `ended with exit code ${first.code} and tells of no failure` })
  }
  return report({
    passed: checks.passed + files.reduce((total, file) => total + file.passed, 0),
    failures,
    skips: files.flatMap(file => file.skips),
    retried: files.flatMap(file => file.retried),
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

function runChecks() {
  const failures = []
  for (const [name, tool, args] of CHECKS) {
    const { status, stdout, stderr } = spawnSync(bin(tool), args, { cwd: ROOT, encoding: 'utf8' })
    print(status === 0 ? `✓ ${name}` : `✗ ${name}\n${stdout}${stderr}`)
    if (status !== 0) failures.push({ name, message: `${stdout}${stderr}`.trim() })
  }
  return { passed: CHECKS.length - failures.length, failures }
}

/** One run of vitest: what each file came to, errors that belong to none, and the exit code. */
async function runTests(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-tests-'))
  const summary = join(folder, 'summary.json')
  const code = await foreground(bin('vitest'), ['run', ...args], { ...env, ATELIER_TEST_SUMMARY: summary })
  try {
    return { code, ...JSON.parse(readFileSync(summary, 'utf8')) }
  } catch {
    return { code, files: [], unhandled: [{ name: 'vitest', message: `ended with exit code ${code} and left no summary` }] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A busy build machine may fail a file that is sound: those that failed run once more, one after the other, and it is told. */
async function secondTry(first, env) {
  const failed = first.files.filter(file => file.failures.length > 0)
  if (failed.length === 0) return first
  log('\nFailed, and tried once more:')
  for (const file of failed) for (const failure of failuresOf(file)) log(described(failure))
  const again = await runTests([...failed.map(file => file.file), '--no-file-parallelism'], env)
  const files = first.files.map(file => {
    const second = again.files.find(other => other.file === file.file)
    if (file.failures.length === 0 || second === undefined) return file
    if (second.failures.length > 0) return second
    return { ...second, retried: [...second.retried, `${short(file.file)} (the whole file)`] }
  })
  return { files, unhandled: [...first.unhandled, ...again.unhandled] }
}

const failuresOf = file => file.failures.map(failure => ({ ...failure, name: `${short(file.file)} > ${failure.name}` }))

function described({ name, message }) {
  const text = message.replaceAll('\n', ' ')
  return `  ${name}: ${text.length > MESSAGE_LENGTH ? `${text.slice(0, MESSAGE_LENGTH)}…` : text}`
}

function report({ passed, failures, skips, retried }) {
  if (retried.length > 0) print('\nPassed only when tried again:')
  for (const name of retried) print(`  ${name}`)
  const reasons = new Map()
  for (const { reason } of skips) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  if (reasons.size > 0) print('\nSkipped:')
  for (const [reason, count] of reasons) print(`  ${count} × ${reason}`)
  if (failures.length > 0) print('\nFailed:')
  for (const failure of failures) print(described(failure))
  print(`\n${passed} passed, ${failures.length} failed, ${skips.length} skipped`)
  return failures.length === 0 && passed > 0 ? 0 : 1
}
