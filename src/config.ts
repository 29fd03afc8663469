import { dirname, resolve } from 'node:path'
import { DOCKER_VARIABLES, type DockerVariables } from './backends/docker/settings.ts'
import { defaultDataDir } from './config/data-directory.ts'
import { resolveSettings } from './config/resolve.ts'
import { flagName, LIMIT_KEYS, SETTING_KEYS, type SettingKey, type Settings } from './config/settings.ts'
import { type Gathered, gatherEnvironment, gatherFile, gatherFlags } from './config/sources.ts'
import { chooseDirectory } from './config/working-directory.ts'
import { isSecret } from './gateway/commands/child-env.ts'
import { WorkspaceError } from './lib/errors.ts'
import type { WorkspaceLimits } from './workspace/limits.ts'

export { configReference, describeConfig } from './config/describe.ts'
export { environmentName, flagName, SETTING_KEYS, type SettingKey, settingOf } from './config/settings.ts'

const FILE_NAME = 'atelier.config.json'
/** On a terminal's own machine a client that is gone for this long has ended. */
const LOCAL_STDIO_GRACE_MS = 30_000

/** How this process meets its clients. */
export type Mode = 'stdio' | 'http'

/** The configuration in force. */
export interface Config extends Settings {
  readonly mode: Mode
  dataDir: string
  limits: WorkspaceLimits
  /** Where the limits of workspaces on `local` differ. */
  localLimits: Partial<WorkspaceLimits>
  /** Environment of commands on `local`: the user's, without Atelier's own variables and the backends' keys. */
  hostEnv: Record<string, string>
  /** Variables of the docker command, to find the engine by. */
  dockerEnv: DockerVariables
  /** Every variable of this process, for the operator's own declarations of nested servers. */
  declarationEnv: Readonly<Record<string, string | undefined>>
  /** Where each value came from. */
  sources: ReadonlyMap<SettingKey, string>
  /** Sentences for the log. */
  warnings: readonly string[]
}

export interface LoadOptions {
  mode: Mode
  /** Values by key, as the command line gave them. */
  flags?: Readonly<Record<string, unknown>>
  /** Path of the file; it must then be there. */
  file?: string | undefined
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
}

/**
 * Reads the configuration: flags over `ATELIER_*` variables over the file over defaults. Throws one `invalid_argument` that tells
 * every problem, each with its key, source and value, and what is allowed.
 */
export function loadConfig(options: LoadOptions): Config {
  const env = options.env ?? process.env
  const cwd = options.cwd ?? process.cwd()
  const gathered: Gathered = { given: new Map(), problems: [], warnings: [] }
  const asked = options.file ?? (env.ATELIER_CONFIG || undefined)
  const file = resolve(cwd, asked ?? FILE_NAME)
  gatherFile(gathered, file, { base: dirname(file), optional: asked === undefined })
  gatherEnvironment(gathered, env, cwd)
  gatherFlags(gathered, options.flags ?? {}, { base: cwd, name: flagName })
  const outcome = resolveSettings(gathered)
  if ('problems' in outcome) throw configError(outcome.problems)
  return complete(outcome.settings, { options, gathered, env, cwd })
}

interface Parts {
  options: LoadOptions
  gathered: Gathered
  env: Readonly<Record<string, string | undefined>>
  cwd: string
}

function complete(settings: Settings, { options, gathered, env, cwd }: Parts): Config {
  const { mode } = options
  const limits = Object.fromEntries(LIMIT_KEYS.map(key => [key, settings[key]])) as unknown as WorkspaceLimits
  if (limits.commandTimeoutMs > limits.commandMaxTimeoutMs) {
    throw configError([
      `commandTimeoutMs (${limits.commandTimeoutMs}) is larger than commandMaxTimeoutMs (${limits.commandMaxTimeoutMs}).`,
    ])
  }
  const { directory, ...rest } = settings
  const chosen = chooseDirectory({ mode, given: directory, cwd, home: env.HOME })
  if (chosen.problem !== undefined)
    throw configError([`${gathered.given.get('directory')?.source ?? 'directory'}: ${chosen.problem}`])
  return {
    ...rest,
    ...limits,
    ...(chosen.directory === undefined ? {} : { directory: chosen.directory }),
    mode,
    dataDir: settings.dataDir ?? defaultDataDir(env),
    limits,
    localLimits: mode === 'stdio' && !gathered.given.has('graceMs') ? { graceMs: LOCAL_STDIO_GRACE_MS } : {},
    hostEnv: commandEnvironment(env),
    declarationEnv: env,
    dockerEnv: pick(env, DOCKER_VARIABLES),
    sources: new Map(SETTING_KEYS.map(key => [key, gathered.given.get(key)?.source ?? 'default'])),
    warnings: [...gathered.warnings, ...(chosen.note === undefined ? [] : [chosen.note])],
  }
}

function pick<K extends string>(env: Parts['env'], names: readonly K[]): Partial<Record<K, string>> {
  return Object.fromEntries(names.filter(name => env[name]).map(name => [name, env[name]])) as Partial<Record<K, string>>
}

const configError = (problems: readonly string[]): WorkspaceError =>
  new WorkspaceError('invalid_argument', `The configuration is wrong.\n${problems.map(one => `  ${one}`).join('\n')}`, {
    hint: '`atelier config` shows every key with its value and source.',
  })

/** Variables with which Node would disturb its children. */
const NODES_OWN = /^(NODE_CHANNEL_(FD|SERIALIZATION_MODE)|NODE_UNIQUE_ID)$/

function commandEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const visible = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isSecret(entry[0]) && !NODES_OWN.test(entry[0]),
  )
  return Object.fromEntries(visible)
}
