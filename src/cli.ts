import { CommanderError } from 'commander'
import { createProgram, type Request } from './cli/program.ts'
import { commandHint, explainUsage } from './cli/usage-error.ts'
import { type Config, describeConfig, loadConfig } from './config.ts'
import { toWorkspaceError } from './lib/errors.ts'
import { SERVER_INFO } from './mcp/static.ts'
import { runStdio, type StdioOptions } from './stdio.ts'

const USAGE_ERROR = 2
/** Commands that work as an HTTP server does: what runs in a workspace goes on after them. */
const DETACHING: ReadonlySet<Request['command']> = new Set(['http', 'cp', 'ls', 'rm', 'prune', 'doctor'])

export interface MainOptions {
  /** What the loader did before this was there. */
  handover?: StdioOptions['handover']
}

/** Runs a command line, without node and script. A wrong one, or a wrong configuration, ends the process with code 2. */
export async function main(argv: readonly string[], options: MainOptions = {}): Promise<void> {
  let request: Request | undefined
  process.stdout.once('error', unread)
  const program = createProgram(SERVER_INFO.version, asked => {
    request = asked
  })
  try {
    program.parse(argv, { from: 'user' })
    if (request !== undefined) await perform(request, options)
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) process.exit(0)
      fail(explainUsage(error, program, argv), USAGE_ERROR)
    }
    const { code, text } = toWorkspaceError(error)
    const hint = text.includes(`${argv[0]} does not exist`) ? commandHint(program, argv[0]) : ''
    fail(`${text}${hint}`, code === 'invalid_argument' ? USAGE_ERROR : 1)
  }
}

async function perform(request: Request, { handover }: MainOptions): Promise<void> {
  const mode = DETACHING.has(request.command) || request.mode === 'http' ? 'http' : 'stdio'
  const config = loadConfig({ mode, flags: request.flags, file: request.file })
  switch (request.command) {
    case 'stdio':
      return serveStdio(config, handover)
    case 'http': {
      const { serveHttp } = await import('./cli/http-command.ts')
      return serveHttp(config, { write: text => void process.stderr.write(text), exit: code => process.exit(code) })
    }
    case 'config':
      return showConfig(config)
    case 'cp': {
      const { copyFiles } = await import('./cli/cp-command.ts')
      process.stdout.write(await copyFiles(config, request.paths ?? ['', ''], process.stderr))
      return
    }
    case 'ls':
    case 'rm':
    case 'prune':
    case 'doctor': {
      const { lookAfter } = await import('./cli/upkeep.ts')
      const code = await lookAfter(request, config, process)
      if (code !== 0) process.exit(code)
      return
    }
    default: {
      const { manageTokens } = await import('./cli/token-command.ts')
      const { usersFileOf } = await import('./cli/http-command.ts')
      const action = request.command.split(' ')[1] as 'add' | 'list' | 'remove'
      process.stdout.write(await manageTokens(action, usersFileOf(config), request.user))
    }
  }
}

/** Whoever read the output, such as `head`, has gone. */
const unread = (): never => process.exit(0)

function serveStdio(config: Config, handover: StdioOptions['handover']): void {
  const { user, agent, session } = config
  process.stdout.off('error', unread)
  runStdio({
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    services: async () => (await import('./services.ts')).createServices(config),
    scope: { user, agent, session },
    handover,
    onEnd: code => process.exit(code),
  })
}

function showConfig(config: Config): void {
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`)
  const rows = describeConfig(config)
  const width = Math.max(...rows.map(row => row.key.length))
  for (const { key, value, source } of rows) {
    process.stdout.write(`${key.padEnd(width)}  ${value === undefined ? '–' : JSON.stringify(value)}  (${source})\n`)
  }
}

function fail(text: string, code: number): never {
  process.stderr.write(`atelier: ${text}\n`)
  process.exit(code)
}
