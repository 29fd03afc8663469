import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Logger as Pino } from 'pino'
import { createBackends } from './backends/registry.ts'
import { backendSettings } from './config/backends/backend-settings.ts'
import { commandPath } from './config/command-path.ts'
import { declarationsOf } from './config/nested-settings.ts'
import type { Config } from './config.ts'
import type { Logger } from './lib/log.ts'
import { createManager } from './manager/manager.ts'
import { createListStore } from './mcp/nested/list-store.ts'
import type { McpServices } from './mcp/session.ts'

const STDERR = 2
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type Level = (typeof LEVELS)[number]
type LoggedLevel = 'debug' | 'info' | 'warn' | 'error'

/** Fields that no log line shows, at the top or one level down. */
const HIDDEN = ['token', 'authorization', 'Authorization', 'env', 'headers', 'apiKey', 'password', 'secret']
const REDACT = { paths: HIDDEN.flatMap(name => [name, `*.${name}`]), censor: '(secret)' }

/** Puts a process together from its configuration: log, backends, manager. Disposing it says goodbye to every open workspace. */
export async function createServices(
  config: Config,
  { severalUsers = false }: { severalUsers?: boolean } = {},
): Promise<McpServices & AsyncDisposable> {
  const logger = createLogger(config.logLevel)
  for (const warning of config.warnings) logger.warn({}, warning)
  const { PATH } = config.hostEnv
  const hostEnv = PATH === undefined ? config.hostEnv : { ...config.hostEnv, PATH: await commandPath(PATH, config) }
  const lists = createListStore(join(config.dataDir, 'lists'), logger.child({ part: 'nested' }))
  const manager = createManager({
    backends: createBackends({
      dataDir: config.dataDir,
      logger: logger.child({ part: 'backends' }),
      ...backendSettings(config),
    }),
    defaultBackend: config.backend,
    policy: config.policy,
    ...(config.directory === undefined ? {} : { directory: config.directory }),
    ...(config.layout === undefined ? {} : { layout: config.layout }),
    limits: config.limits,
    localLimits: config.localLimits,
    hostEnv,
    env: config.env,
    confine: config.confine,
    goodbye: config.mode === 'stdio' ? 'end' : 'detach',
    ttlMs: config.ttlMs,
    ...(config.maxLifeMs === undefined ? {} : { maxLifeMs: config.maxLifeMs }),
    allowedImages: config.allowedImages,
    allowSharedLocal: config.allowSharedLocal,
    severalUsers,
    allowLocal: config.allowLocal,
    skillPaths: config.skillPaths,
    nested: {
      defaults: declarationsOf(config.mcpServers),
      variables: { host: config.declarationEnv, secrets: secretsOf(config) },
    },
    cacheDir: join(config.dataDir, 'cache'),
    logger: logger.child({ part: 'manager' }),
    destroyed: id => lists.forget(id),
  })
  const nested = {
    lists,
    declared: Object.keys(config.mcpServers).length > 0,
  }
  const clientRoots = config.mode === 'stdio' && config.clientRoots
  return {
    manager,
    limits: config.limits,
    logger,
    nested,
    clientRoots,
    [Symbol.asyncDispose]: () => manager[Symbol.asyncDispose](),
  }
}

/** What the operator lets any declaration name; our own and the backends' keys are never among it. */
function secretsOf({ secrets, hostEnv }: Config): Record<string, string> {
  return Object.fromEntries(secrets.flatMap(name => (hostEnv[name] === undefined ? [] : [[name, hostEnv[name]]])))
}

/** A structured log on stderr, a JSON object a line. pino is loaded for the first line that is not below the level. */
export function createLogger(level: Level, destination?: Writable): Logger {
  const least = LEVELS.indexOf(level)
  return new LazyLogger(new PinoLoader(level, destination), least, {})
}

/** Loads pino once; lines that come meanwhile wait, in order. */
class PinoLoader {
  readonly #level: Level
  readonly #destination: Writable | undefined
  #pino: Pino | undefined
  #waiting: ((pino: Pino) => void)[] | undefined

  constructor(level: Level, destination: Writable | undefined) {
    this.#level = level
    this.#destination = destination
  }

  use(write: (pino: Pino) => void): void {
    if (this.#pino !== undefined) write(this.#pino)
    else if (this.#waiting !== undefined) this.#waiting.push(write)
    else {
      this.#waiting = [write]
      void this.#load()
    }
  }

  async #load(): Promise<void> {
    const { pino, destination } = await import('pino')
    const options = { level: this.#level, base: { pid: process.pid }, redact: REDACT }
    const logger = pino(options, this.#destination ?? destination({ fd: STDERR, sync: true }))
    this.#pino = logger
    for (const write of this.#waiting ?? []) write(logger)
    this.#waiting = []
  }
}

class LazyLogger implements Logger {
  readonly #loader: PinoLoader
  readonly #least: number
  readonly #bindings: object

  constructor(loader: PinoLoader, least: number, bindings: object) {
    this.#loader = loader
    this.#least = least
    this.#bindings = bindings
  }

  debug(fields: object, message: string): void {
    this.#log('debug', fields, message)
  }

  info(fields: object, message: string): void {
    this.#log('info', fields, message)
  }

  warn(fields: object, message: string): void {
    this.#log('warn', fields, message)
  }

  error(fields: object, message: string): void {
    this.#log('error', fields, message)
  }

  child(fields: object): Logger {
    return new LazyLogger(this.#loader, this.#least, { ...this.#bindings, ...fields })
  }

  #log(level: LoggedLevel, fields: object, message: string): void {
    if (LEVELS.indexOf(level) < this.#least) return
    this.#loader.use(pino => pino[level]({ ...this.#bindings, ...fields }, message))
  }
}
