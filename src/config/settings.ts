import { z } from 'zod'
import { BACKEND_NAMES } from '../backends/backend.ts'
import { ISOLATION_POLICIES } from '../manager/scope.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../workspace/limits.ts'
import { DAYTONA } from './backends/daytona.ts'
import { E2B } from './backends/e2b.ts'
import { KUBERNETES } from './backends/kubernetes.ts'
import { OPENSANDBOX } from './backends/opensandbox.ts'
import { serversSchema } from './nested-settings.ts'
import { PROFILES } from './profiles.ts'
import { duration, flag, integer, list, matching, oneOf, size, structure, text, type ValueKind } from './values.ts'

/** One setting. Its key in the file gives its name in the environment and its flag. */
export interface Setting<T = unknown> extends ValueKind<T> {
  readonly doc: string
  readonly group: 'workspace' | 'who' | 'http' | 'limits' | 'process'
  /** Absent: not set unless given. */
  readonly fallback?: T
  /** Never shown, in no dump and no error. */
  readonly secret?: boolean
}

type Notes<T> = Pick<Setting<T>, 'doc' | 'group' | 'secret'>

/** A setting with a default. */
const set = <T>(kind: ValueKind<T>, fallback: T, notes: Notes<T>): Setting<T> & { fallback: T } => ({
  ...kind,
  ...notes,
  fallback,
})
/** A setting that may be absent. */
const may = <T>(kind: ValueKind<T>, notes: Notes<T>): Setting<T> => ({ ...kind, ...notes })

const SCOPE_ID = /^([A-Za-z0-9_][A-Za-z0-9._@:+=-]{0,127})?$/
const SCOPE_ID_ALLOWED = 'up to 128 letters, digits and . _ @ : + = -, starting with a letter, a digit or _'

const WORKSPACE = {
  directory: may(text(), {
    group: 'workspace',
    doc: 'Directory to work in. Default on stdio: the current one; on HTTP: a workspace named default in the data directory.',
  }),
  layout: may(oneOf(['workdir']), {
    group: 'workspace',
    doc: "workdir: Atelier's own folders lie in the directory itself, as in AgentScope's workspaces. Default: in the data directory.",
  }),
  backend: set(oneOf(BACKEND_NAMES), 'local', {
    group: 'workspace',
    doc: 'Where workspaces are made unless a call says otherwise.',
  }),
  image: may(text(), { group: 'workspace', doc: 'Image of new environments.' }),
  allowedImages: set(list('a list of image names'), [], { group: 'workspace', doc: 'Images that an agent may choose.' }),
  profile: may(text(), { group: 'workspace', doc: 'Profile of new environments.' }),
  profiles: set(
    structure(
      PROFILES,
      'an object of profiles with user, env, cpus, memory, pids, network, mounts, init, readOnlyRoot, capDrop, securityOpt, tmpfs, ephemeral',
    ),
    {},
    {
      group: 'workspace',
      doc: 'Profiles by name, beside default, host and hardened: user, mounts, network and limits of containers.',
    },
  ),
  dockerHost: may(text(), {
    group: 'workspace',
    doc: 'Address of the Docker engine: unix://, tcp://, ssh:// or host:port. Default: as the docker command finds it.',
  }),
  dockerContext: may(text(), { group: 'workspace', doc: 'Context of the docker command to use.' }),
  e2b: may(structure(E2B, 'an object of settings of the backend e2b; see docs/e2b.md'), {
    group: 'workspace',
    doc: 'Key, address and template of E2B. The key is better left to E2B_API_KEY.',
  }),
  daytona: may(structure(DAYTONA, 'an object of settings of the backend daytona; see docs/daytona.md'), {
    group: 'workspace',
    doc: 'Key, address and snapshot or image of Daytona. The key is better left to DAYTONA_API_KEY.',
  }),
  kubernetes: may(structure(KUBERNETES, 'an object of settings of the backend kubernetes; see docs/kubernetes.md'), {
    group: 'workspace',
    doc: 'Cluster, namespace, image and limits of Pods.',
  }),
  opensandbox: may(structure(OPENSANDBOX, 'an object of settings of the backend opensandbox; see docs/opensandbox.md'), {
    group: 'workspace',
    doc: 'Key, address and image of OpenSandbox. The key is better left to OPEN_SANDBOX_API_KEY.',
  }),
  policy: set(oneOf(ISOLATION_POLICIES), 'per_agent', { group: 'workspace', doc: 'Who shares a default workspace.' }),
  confine: set(oneOf(['workdir', 'none']), 'none', {
    group: 'workspace',
    doc: 'Whether file tools stay inside the working directory. Void while Bash is on.',
  }),
  env: set(
    structure(z.record(z.string(), z.string()), 'an object of texts'),
    {},
    { group: 'workspace', doc: 'Environment of commands, beside what the backend gives.' },
  ),
  secrets: set(list('a list of environment variables'), [], {
    group: 'workspace',
    doc: 'Variables of the host that any declaration of a nested server may name.',
  }),
  mcpServers: set(
    structure(serversSchema, 'an object of servers, in the shape of Claude Desktop'),
    {},
    { group: 'workspace', doc: 'Nested servers of every workspace.' },
  ),
  skillPaths: set(list('a list of directories'), [], {
    group: 'workspace',
    doc: 'Directories of skills that new workspaces get.',
  }),
  clientRoots: set(flag(), false, {
    group: 'workspace',
    doc: "Offer a client's roots as workspaces, on stdio: directories of this host that the client names.",
  }),
  allowSharedLocal: set(flag(), false, {
    group: 'workspace',
    doc: 'Let several users share the backend local, where all commands run as one user.',
  }),
  allowLocal: set(flag(), false, {
    group: 'workspace',
    doc: 'Let calls use the backend local, which is this host itself, where another backend is the default.',
  }),
  ttlMs: set(duration(1_000), 1_800_000, { group: 'workspace', doc: 'A workspace idle for this long is closed.' }),
  maxLifeMs: may(duration(1_000), { group: 'workspace', doc: 'A workspace older than this is closed, busy or not.' }),
} as const

const WHO = {
  user: set(matching(/^[A-Za-z0-9_][A-Za-z0-9._@:+=-]{0,127}$/, SCOPE_ID_ALLOWED), 'local', {
    group: 'who',
    doc: 'The single user.',
  }),
  agent: set(matching(SCOPE_ID, SCOPE_ID_ALLOWED), '', { group: 'who', doc: 'Agent of clients that name none.' }),
  session: set(matching(SCOPE_ID, SCOPE_ID_ALLOWED), '', { group: 'who', doc: 'Session of clients that name none.' }),
} as const

const HTTP = {
  host: set(text(), '127.0.0.1', { group: 'http', doc: 'Address to listen on.' }),
  port: set(integer(0, 65_535), 7_420, { group: 'http', doc: 'Port to listen on; 0 takes any free one.' }),
  auth: set(oneOf(['token', 'none']), 'token', {
    group: 'http',
    doc: 'Whether clients need a bearer token; none only on loopback.',
  }),
  token: may(matching(/^\S{16,}$/, 'at least 16 characters without spaces'), {
    group: 'http',
    secret: true,
    doc: "The single user's token. Default: made once and kept in the data directory.",
  }),
  usersFile: may(text(), {
    group: 'http',
    doc: 'Users and the hashes of their tokens. Default: users.json in the data directory, once it has users.',
  }),
  allowedHosts: set(list('a list of host names, with a port or without'), [], {
    group: 'http',
    doc: 'Further values of the Host header.',
  }),
  allowedOrigins: set(list('a list of origins, such as https://app.example'), [], {
    group: 'http',
    doc: 'Further values of the Origin header; they get CORS headers.',
  }),
  bodyMaxBytes: set(size(1_024), 64 * 1024 ** 2, { group: 'http', doc: 'Largest body of a request.' }),
  sessionIdleMs: set(duration(1_000), 1_800_000, { group: 'http', doc: 'A session idle for this long ends.' }),
  maxSessions: set(integer(1), 10_000, { group: 'http', doc: 'Sessions at once.' }),
  shutdownMs: set(duration(0), 5_000, { group: 'http', doc: 'How long a shutdown waits for answers.' }),
} as const

const PROCESS = {
  dataDir: may(text(), { group: 'process', doc: "Where Atelier keeps its data. Default: atelier in the user's data directory." }),
  logLevel: set(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info', {
    group: 'process',
    doc: 'Least level that is logged.',
  }),
  ripgrep: may(text(), {
    group: 'process',
    doc: 'Path of the ripgrep to search with. Default: the one on the PATH, else a packaged one.',
  }),
} as const

const limit = (kind: ValueKind<number>, key: keyof WorkspaceLimits, doc: string) =>
  set(kind, DEFAULT_LIMITS[key], { group: 'limits', doc })

const LIMITS = {
  commandTimeoutMs: limit(duration(), 'commandTimeoutMs', 'Time-out of a foreground command that names none.'),
  commandMaxTimeoutMs: limit(duration(), 'commandMaxTimeoutMs', 'Longest time-out that a foreground command may name.'),
  softLimitMs: limit(duration(), 'softLimitMs', 'After this a foreground command goes on as a job.'),
  outputChars: limit(integer(200), 'outputChars', 'Characters shown of one output.'),
  offloadChars: limit(integer(0), 'offloadChars', 'A tool result of more characters is moved to a file; 0: never.'),
  offloadMediaBytes: limit(size(1_024), 'offloadMediaBytes', 'Largest image or sound that stays in a tool result.'),
  maxNestedServers: limit(
    integer(0),
    'maxNestedServers',
    'Nested servers that run at once; idle ones of other scopes make room. 0: 40, or twice the configured ones.',
  ),
  logMaxBytes: limit(size(1_024), 'logMaxBytes', 'Largest log of one command.'),
  readMaxLines: limit(integer(1), 'readMaxLines', 'Lines that one Read shows.'),
  readMaxBytes: limit(size(256), 'readMaxBytes', 'Bytes that one Read shows.'),
  readMaxLineBytes: limit(size(16), 'readMaxLineBytes', 'Bytes that Read shows of one line.'),
  globMaxFiles: limit(integer(1), 'globMaxFiles', 'Files that one Glob lists.'),
  grepMaxEntries: limit(integer(1), 'grepMaxEntries', 'Entries that one Grep lists.'),
  grepMaxLineBytes: limit(size(16), 'grepMaxLineBytes', 'Bytes that Grep shows of one line.'),
  searchTimeoutMs: limit(duration(), 'searchTimeoutMs', 'Longest search.'),
  graceMs: limit(duration(0), 'graceMs', 'How long a client may be away before its jobs end. Default on local stdio: 30 s.'),
  jobMaxLifeMs: limit(duration(), 'jobMaxLifeMs', 'Longest life of a job without any client.'),
  gatewayIdleMs: limit(duration(), 'gatewayIdleMs', 'A gateway with nothing to do ends after this.'),
  reconnectMs: limit(duration(), 'reconnectMs', 'How long a broken link is tried again.'),
} satisfies Record<keyof WorkspaceLimits, Setting<number>>

/** Every setting, by its key in the file. */
export const SETTINGS = { ...WORKSPACE, ...WHO, ...HTTP, ...PROCESS, ...LIMITS }
export const LIMIT_KEYS = Object.keys(LIMITS) as (keyof WorkspaceLimits)[]

export type SettingKey = keyof typeof SETTINGS
type ValueOf<S> = S extends Setting<infer T> ? T : never
type Optional = { [K in SettingKey]: (typeof SETTINGS)[K] extends { fallback: unknown } ? never : K }[SettingKey]

/** The values in force. */
export type Settings = { [K in Exclude<SettingKey, Optional>]: ValueOf<(typeof SETTINGS)[K]> } & {
  [K in Optional]?: ValueOf<(typeof SETTINGS)[K]>
}

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[]

/** The definition of one setting, seen without its type. */
export const settingOf = (key: SettingKey): Setting => SETTINGS[key] as unknown as Setting

const words = (key: string): string[] => key.split(/(?=[A-Z])/)

/** `bodyMaxBytes` → `ATELIER_BODY_MAX_BYTES`. */
export const environmentName = (key: string): string => `ATELIER_${words(key).join('_').toUpperCase()}`

/** `bodyMaxBytes` → `--body-max-bytes`. */
export const flagName = (key: string): string => `--${words(key).join('-').toLowerCase()}`
