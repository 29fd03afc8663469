import { parseArgs } from 'node:util'
import { WorkspaceError } from '../lib/errors.ts'
import { DAEMON_FLAGS } from './daemon-flags.ts'
import { FINAL_EXIT, OWN_WORDS } from './own-words.ts'

const DEFAULT_IDLE_MS = 15 * 60_000
const DEFAULT_LOG_BYTES = 1024 ** 3
const DEFAULT_JOB_LIFE_MS = 24 * 3_600_000

const FLAGS = {
  dir: { type: 'string' },
  workdir: { type: 'string' },
  root: { type: 'string' },
  'idle-ms': { type: 'string' },
  'log-max-bytes': { type: 'string' },
  'job-max-life-ms': { type: 'string' },
  confine: { type: 'string' },
  'main-process': { type: 'boolean' },
  'inherit-env': { type: 'boolean' },
  version: { type: 'boolean' },
} as const

function readFlags(argv: string[]) {
  const { values, positionals } = parseArgs({ args: argv, options: FLAGS, allowPositionals: true })
  return { values, verb: positionals[0] }
}
type Flags = ReturnType<typeof readFlags>['values']

function required(values: Flags, name: 'dir' | 'workdir' | 'root'): string {
  const value = values[name]
  if (value === undefined) throw new WorkspaceError('invalid_argument', `The flag --${name} is missing`)
  return value
}

function milliseconds(value: string | undefined, fallback: number): number {
  const number = value === undefined ? fallback : Number(value)
  if (Number.isFinite(number) && number >= 0) return number
  throw new WorkspaceError('invalid_argument', `"${value}" is no number`)
}

/** What the environment gave this process: there its commands have it too, but for the shell's own words. */
function ownEnvironment(): Record<string, string> {
  const { SHLVL: _level, PWD: _directory, OLDPWD: _before, _: _program, ...env } = process.env
  return env as Record<string, string>
}

async function runServe(values: Flags): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => stop.abort(signal))
  const { serve } = await import('./serve.ts')
  const options = {
    dir: required(values, 'dir'),
    workdir: required(values, 'workdir'),
    root: required(values, 'root'),
    idleMs: milliseconds(values['idle-ms'], DEFAULT_IDLE_MS),
    logMaxBytes: milliseconds(values['log-max-bytes'], DEFAULT_LOG_BYTES),
    jobMaxLifeMs: milliseconds(values['job-max-life-ms'], DEFAULT_JOB_LIFE_MS),
    ...(values.confine === undefined ? {} : { confine: values.confine }),
    mainProcess: values['main-process'] === true,
    ...(values['inherit-env'] === true ? { baseEnv: ownEnvironment() } : {}),
    stop: stop.signal,
  }
  const daemon = await serve(options, async given => (await import('./handlers.ts')).createServices(given))
  if (daemon === undefined) return 0
  // One call's fault must not end the work of all the others.
  process.on('uncaughtException', error => daemon.log.error({ error: String(error.stack) }, 'uncaught error'))
  await daemon.ended
  return 0
}

async function runAttach(values: Flags, argv: string[]): Promise<number> {
  const { attach } = await import('./attach.ts')
  const flags = argv.filter((_, index) => index !== argv.indexOf('attach'))
  const args = [...DAEMON_FLAGS, process.argv[1] as string, 'serve', ...flags]
  // A main process is started with its environment, and never by who comes to talk to it.
  const command = values['main-process'] === true ? undefined : { node: process.execPath, args }
  await attach(required(values, 'dir'), command)
  return 0
}

async function main(argv: string[]): Promise<number> {
  const { values, verb } = readFlags(argv)
  if (values.version === true) {
    const { VERSION } = await import('./version.ts')
    process.stdout.write(`${VERSION}\n`)
    return 0
  }
  if (verb === 'serve') return runServe(values)
  if (verb === 'attach') return runAttach(values, argv)
  throw new WorkspaceError(
    'invalid_argument',
    `Usage: gateway.mjs serve|attach --dir DIR --workdir DIR --root DIR, not "${verb ?? ''}"`,
  )
}

/** Whether the same start would fail again. */
function isFinal(error: unknown): boolean {
  if (error instanceof WorkspaceError) return error.code !== 'unavailable'
  return ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException)?.code ?? '')
}

main(process.argv.slice(2)).then(
  code => process.exit(code),
  error => {
    process.stderr.write(`${OWN_WORDS}${error instanceof WorkspaceError ? error.text : String(error?.stack ?? error)}\n`)
    process.exit(isFinal(error) ? FINAL_EXIT : 1)
  },
)
