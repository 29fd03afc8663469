import { isRecord } from '../../lib/is-record.ts'
import { declarationFault } from './declaration.ts'
import type { ServerDeclaration } from './port.ts'

/** What the `.mcp` file has no room for; it stands beside it. */
export type EntryExtras = Pick<ServerDeclaration, 'expose' | 'type' | 'startTimeoutMs'>

/** The time limit of an HTTP server that AgentScope writes where nobody named one, in s. */
const HTTP_TIMEOUT = 30

/** A declaration as an entry of the `.mcp` file, its keys in the order of that file. */
export function toEntry(declaration: ServerDeclaration): Record<string, unknown> {
  const { name, command, callTimeoutMs } = declaration
  return {
    name,
    is_stateful: command !== undefined,
    mcp_config: command === undefined ? httpConfig(declaration) : stdioConfig(declaration),
    enable_tools: declaration.enableTools ?? null,
    disable_tools: declaration.disableTools ?? null,
    execution_timeout: callTimeoutMs === undefined ? null : callTimeoutMs / 1000,
    stream_progress: false,
  }
}

/** A readable entry with every key that AgentScope writes, in its order; what is there stays as it is. */
export function completeEntry(entry: unknown): unknown {
  const read = readEntry(entry)
  if ('fault' in read) return entry
  const all = toEntry(read)
  const { mcp_config: config, ...raw } = entry as Record<string, unknown>
  return { ...all, ...raw, mcp_config: { ...(all.mcp_config as object), ...(config as object) } }
}

/** What of a declaration an entry can't say. */
export function extrasOf({ expose, type, startTimeoutMs }: ServerDeclaration): EntryExtras {
  return {
    ...(expose === undefined ? {} : { expose }),
    ...(type === undefined ? {} : { type }),
    ...(startTimeoutMs === undefined ? {} : { startTimeoutMs }),
  }
}

/** The declaration of an entry, or what is wrong with it. */
export function readEntry(entry: unknown): ServerDeclaration | { fault: string } {
  if (!isRecord(entry)) return { fault: 'it is no object' }
  const { name, mcp_config: config, execution_timeout: seconds } = entry
  if (typeof name !== 'string') return { fault: 'it has no name' }
  if (!isRecord(config)) return { fault: 'it has no mcp_config' }
  const tools = { enableTools: entry.enable_tools, disableTools: entry.disable_tools }
  if (!Object.values(tools).every(isTexts)) return { fault: 'enable_tools and disable_tools must be lists of names' }
  if (!isAbsent(seconds) && !(typeof seconds === 'number' && seconds > 0))
    return { fault: 'execution_timeout must be a number of seconds' }
  const read = config.type === 'stdio_mcp' ? stdioOf(config, entry) : config.type === 'http_mcp' ? httpOf(config) : undefined
  if (read === undefined) return { fault: 'the type of mcp_config must be stdio_mcp or http_mcp' }
  if (typeof read === 'string') return { fault: read }
  const limit = isAbsent(seconds) ? undefined : (seconds as number) * 1000
  const declaration = given({ name, ...read, ...tools, callTimeoutMs: limit }) as unknown as ServerDeclaration
  const fault = declarationFault(declaration)
  return fault === undefined ? declaration : { fault }
}

function stdioConfig({ command, args, env, cwd }: ServerDeclaration): Record<string, unknown> {
  return {
    type: 'stdio_mcp',
    command,
    args: args ?? null,
    env: env ?? null,
    cwd: cwd ?? null,
    encoding_error_handler: 'strict',
  }
}

function httpConfig({ url, headers }: ServerDeclaration): Record<string, unknown> {
  return { type: 'http_mcp', url, headers: headers ?? null, timeout: HTTP_TIMEOUT }
}

function stdioOf(config: Record<string, unknown>, entry: Record<string, unknown>): object | string {
  const { command, args, env, cwd } = config
  if (typeof command !== 'string' || command === '') return 'it has no command'
  if (entry.is_stateful === false) return 'a server with a command must be stateful'
  if (!isTexts(args)) return 'args must be a list of texts'
  if (!isTextMap(env)) return 'env must be an object of texts'
  if (!isAbsent(cwd) && typeof cwd !== 'string') return 'cwd must be a text'
  return { command, args, env, cwd }
}

function httpOf({ url, headers }: Record<string, unknown>): object | string {
  if (typeof url !== 'string' || url === '') return 'it has no url'
  if (!isTextMap(headers)) return 'headers must be an object of texts'
  return { url, headers }
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isAbsent(value)))
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

function isTexts(value: unknown): boolean {
  return isAbsent(value) || (Array.isArray(value) && value.every(text => typeof text === 'string'))
}

function isTextMap(value: unknown): boolean {
  return isAbsent(value) || (isRecord(value) && Object.values(value).every(text => typeof text === 'string'))
}
