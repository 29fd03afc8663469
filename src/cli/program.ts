import { Command, Option } from 'commander'
import { flagName, SETTING_KEYS, settingOf } from '../config.ts'

/** What the command line asked for. */
export interface Request {
  command: 'stdio' | 'http' | 'config' | 'cp' | 'ls' | 'rm' | 'prune' | 'doctor' | 'token add' | 'token list' | 'token remove'
  /** Values by setting, as given. */
  flags: Record<string, unknown>
  /** Path after `--config`. */
  file: string | undefined
  /** The user of `token add` and `token remove`. */
  user?: string
  /** Source and destination of `cp`. */
  paths?: readonly [string, string]
  /** Workspaces of `rm`. */
  refs?: readonly string[]
  /** The one backend that `doctor` looks at. */
  backend?: string
  /** Flags that are no settings: `--json`, `--all`, `--yes`, `--dry-run`. */
  choices?: Choices
  /** `config --for http`. */
  mode?: 'stdio' | 'http'
}

export interface Choices {
  json?: boolean
  all?: boolean
  yes?: boolean
  dryRun?: boolean
}

type Run = (request: Request) => void

/** The command line: commands and flags, the latter made from the table of settings. */
export function createProgram(version: string, run: Run): Command {
  const program = new Command('atelier')
  program
    .description('A place to work for agents, over the Model Context Protocol. Without a command: stdio.')
    .enablePositionalOptions()
    .showSuggestionAfterError(false)

  const directory = ['[directory]', 'directory to work in'] as const
  const stdio = program
    .command('stdio', { isDefault: true })
    .description('serve one client on stdin and stdout (what clients start)')
  stdio.argument(...directory).action((given: string | undefined, options: object) => run(requestOf('stdio', options, given)))
  addSettings(stdio, group => group !== 'http')

  const http = program.command('http').description('serve Streamable HTTP, by default on 127.0.0.1:7420')
  http.argument(...directory).action((given: string | undefined, options: object) => run(requestOf('http', options, given)))
  addSettings(http, () => true)

  const config = program.command('config').description('show every setting with its value and source')
  config.addOption(new Option('--for <mode>', 'which defaults to show').choices(['stdio', 'http']).default('stdio'))
  config.action(({ for: mode, ...options }: { for: 'stdio' | 'http' }) => run({ ...requestOf('config', options), mode }))
  addSettings(config, () => true)

  const cp = program.command('cp').description('copy a file or directory into a workspace or out of it')
  cp.argument('<source>', 'PATH of this host, or WORKSPACE:PATH').argument('<destination>', 'the other of both')
  cp.action((from: string, to: string, options: object) => run({ ...requestOf('cp', options), paths: [from, to] }))
  addSettings(cp, group => group !== 'http')

  addUpkeepCommands(program, run)
  addTokenCommands(program, run)
  for (const command of everyCommand(program))
    command
      .exitOverride()
      .configureOutput({ outputError: () => {}, writeErr: () => {} })
      .version(version, '-V, --version')
  return program
}

/** Commands for the person who looks after workspaces on every backend. */
function addUpkeepCommands(program: Command, run: Run): void {
  const json = ['--json', 'print JSON, for programs'] as const
  const ls = program.command('ls').description('list workspaces on every configured backend')
  ls.option('--all', 'those of every user').option(...json)
  ls.action((options: Choices) => run(chosen('ls', options)))

  const rm = program.command('rm').description('remove workspaces with their files')
  rm.argument('<workspace...>', 'ids or names').option('--yes', 'without asking')
  rm.action((refs: string[], options: Choices) => run({ ...chosen('rm', options), refs }))

  const prune = program
    .command('prune')
    .description('remove what hosts that never came back left behind; files of workspaces stay')
  prune.option('--dry-run', 'only say what would go').option(...json)
  prune.action((options: Choices) => run(chosen('prune', options)))

  const doctor = program.command('doctor').description('try each configured backend step by step, and say what is wrong')
  doctor.argument('[backend]', 'one backend alone').option(...json)
  doctor.action((backend: string | undefined, options: Choices) => {
    run({ ...chosen('doctor', options), ...(backend === undefined ? {} : { backend }) })
  })
  for (const command of [ls, rm, prune, doctor]) addSettings(command, group => ['workspace', 'who', 'process'].includes(group))
}

function chosen(command: Request['command'], { json, all, yes, dryRun, ...settings }: Choices): Request {
  const choices = Object.fromEntries(Object.entries({ json, all, yes, dryRun }).filter(([, value]) => value !== undefined))
  return { ...requestOf(command, settings), choices }
}

function addTokenCommands(program: Command, run: Run): void {
  const token = program.command('token').description('manage the users of the HTTP server')
  const onPaths = (key: string): boolean => ['dataDir', 'usersFile'].includes(key)
  const add = token.command('add').argument('<user>').description('make a new token for a user and print it; an older one ends')
  add.action((user: string, options: object) => run({ ...requestOf('token add', options), user }))
  const remove = token.command('remove').argument('<user>').description("end a user's token")
  remove.action((user: string, options: object) => run({ ...requestOf('token remove', options), user }))
  const list = token.command('list').description('print the users')
  list.action((options: object) => run(requestOf('token list', options)))
  for (const command of [add, remove, list]) addSettings(command, (_, key) => onPaths(key))
}

/** A command with all that is below it. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

function requestOf(command: Request['command'], options: object, directory?: string): Request {
  const { config, ...flags } = options as { config?: string }
  return { command, flags: directory === undefined ? flags : { directory, ...flags }, file: config }
}

function addSettings(command: Command, takes: (group: string, key: string) => boolean): void {
  command.option('--config <file>', 'configuration file (default: atelier.config.json in the current directory)')
  for (const key of SETTING_KEYS) {
    const { flag, group, doc, allowed, fallback } = settingOf(key)
    if (flag === 'none' || !takes(group, key)) continue
    const name = flagName(key)
    const shown = fallback === undefined || fallback === '' || (Array.isArray(fallback) && fallback.length === 0)
    const text = `${doc}${flag === 'boolean' ? '' : ` Allowed: ${allowed}.`}${shown ? '' : ` (default: ${String(fallback)})`}`
    if (flag === 'boolean') command.option(name, text).addOption(new Option(name.replace('--', '--no-')).hideHelp())
    else if (flag === 'list')
      command.option(`${name} <values>`, text, (value: string, before: string[] = []) => [...before, value])
    else command.option(`${name} <value>`, text)
  }
}
