import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BackendSettings, createBackends } from '../backends/registry.ts'
import { type Logger, silentLogger } from '../lib/log.ts'
import type { ManagerOptions } from '../manager/manager.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../workspace/limits.ts'
import type { NestedSettings } from '../workspace/nested-servers/nested-servers.ts'
import type { ServerDeclaration } from '../workspace/nested-servers/port.ts'

/** What a program gets without naming it. */
export interface LibraryDefaults extends BackendSettings {
  dataDir: string
  /** Environment of commands on `local`. */
  hostEnv: Record<string, string>
  /** Where sockets live; absent: the user's runtime directory. */
  runtimeBase?: string
  /** How a workspace is opened; absent: by the gateway that came with this build. */
  open?: ManagerOptions['open']
}

/** Reads the defaults; called when a workspace is first opened, never before. */
export type ReadDefaults = () => LibraryDefaults

/** Options that every workspace class and the manager take. */
export interface CommonOptions {
  /** Where Atelier keeps its data; default: the user's data directory. */
  dataDir?: string
  /** Variables of commands, over those of the host. */
  env?: Record<string, string>
  /** Limits other than the defaults, by their configuration keys. */
  limits?: Partial<WorkspaceLimits>
  /** Keeps the file tools in the working directory. Void while Bash is used; default: `none`. */
  confine?: 'workdir' | 'none'
  /** Directories of skills that agents start with, beside Atelier's own; `~` is filled in. */
  skillPaths?: readonly string[]
  /** Nested MCP servers that every agent and session begins with; `${VAR}` in them is the host's. */
  mcpServers?: readonly ServerDeclaration[]
  /** Variables of the host that any declaration of a nested server may name. */
  secrets?: readonly string[]
  logger?: Logger
}

/** What a manager needs of the common options, with their defaults filled in. */
export function managerParts(options: CommonOptions, read: ReadDefaults, settings: BackendSettings = {}) {
  const { env = {}, limits = {}, confine = 'none' as const, skillPaths = [], logger = silentLogger } = options
  const { hostEnv, runtimeBase, open, dataDir: usual, ...configured } = read()
  const dataDir = options.dataDir ?? usual
  return {
    backends: createBackends({
      dataDir,
      logger,
      ...merged(configured, settings),
      ...(runtimeBase === undefined ? {} : { runtimeBase }),
    }),
    ...{ hostEnv, env, confine, skillPaths, logger, cacheDir: join(dataDir, 'cache') },
    nested: nestedSettings(options, hostEnv),
    limits: { ...DEFAULT_LIMITS, ...limits },
    // A program that ends without a word leaves its jobs to the next one; `close` ends them.
    goodbye: 'detach' as const,
    ...(open === undefined ? {} : { open }),
  }
}

/** Settings of each backend, key by key: those of the program over those of the configuration. */
function merged(configured: BackendSettings, given: BackendSettings): BackendSettings {
  const names = [...new Set([...Object.keys(configured), ...Object.keys(given)])] as (keyof BackendSettings)[]
  return Object.fromEntries(names.map(name => [name, { ...configured[name], ...given[name] }]))
}

function nestedSettings({ mcpServers = [], secrets = [] }: CommonOptions, host: Record<string, string>): NestedSettings {
  const named = secrets.flatMap(name => (host[name] === undefined ? [] : [[name, host[name]] as const]))
  return { defaults: mcpServers, variables: { host, secrets: Object.fromEntries(named) } }
}

/** A directory given as a path, a `file:` URL or its text. */
export function pathOf(directory: string | URL): string {
  const isUrl = directory instanceof URL || directory.startsWith('file:')
  return isUrl ? fileURLToPath(directory) : directory
}
