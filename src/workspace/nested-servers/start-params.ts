import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { fillDeclaration } from '../../gateway/nested/fill-declaration.ts'
import type { NestedDeclaration, NestedScope, NestedStartParams } from '../../gateway/protocol.ts'
import { VERSION } from '../../gateway/version.ts'
import { namedVariables } from '../../lib/variables.ts'
import type { Declared } from './declarations.ts'
import type { ServerDeclaration } from './port.ts'

/** Where the variables of declarations come from. */
export interface VariableSources {
  /** The host's environment: for what the operator declared. */
  host: Readonly<Record<string, string | undefined>>
  /** Variables of the host that anybody's declaration may name, with their values. */
  secrets: Readonly<Record<string, string>>
}

export const DEFAULT_START_MS = 120_000

/**
 * What every server is told of its client. All that a client of ours may be able to do is announced, since the server outlives
 * it: what the client of the moment can't do is refused when it is asked for.
 */
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {
    sampling: { context: {}, tools: {} },
    elicitation: { form: {}, url: {} },
    roots: { listChanged: true },
  },
  clientInfo: { name: 'atelier', title: 'Atelier', version: VERSION },
}

/** What the gateway is told to start. Throws `invalid_argument` for a variable that the operator's declaration names and the host lacks. */
export function startParams(scope: NestedScope, declared: Declared, sources: VariableSources): NestedStartParams {
  const { declaration, source } = declared
  const plain = forGateway(declaration)
  const own = source === 'config'
  const start = {
    declaration: own ? fillDeclaration(plain, sources.host) : plain,
    ...(own ? {} : { variables: namedSecrets(plain, sources.secrets) }),
  }
  const hash = createHash('sha256').update(JSON.stringify(start)).digest('hex')
  const budgetMs = declaration.startTimeoutMs ?? DEFAULT_START_MS
  return { scope, name: declaration.name, hash, ...start, initialize: INITIALIZE, budgetMs }
}

/** The hash of what would be started; `undefined` where it can't be. */
export function startHash(scope: NestedScope, declared: Declared, sources: VariableSources): string | undefined {
  try {
    return startParams(scope, declared, sources).hash
  } catch {
    return undefined
  }
}

function forGateway({ command, args = [], env = {}, cwd, url = '', headers = {}, type }: ServerDeclaration): NestedDeclaration {
  if (command !== undefined) {
    return { type: 'stdio', command, args: withYes(command, args), env, ...(cwd === undefined ? {} : { cwd }) }
  }
  if (type !== undefined) return { type, url, headers }
  return { type: looksLikeSse(url) ? 'sse' : 'http', url, headers, fallback: true }
}

/** `npx` would wait for a yes that nobody can give. */
function withYes(command: string, args: string[]): string[] {
  if (posix.basename(command) !== 'npx' || args.some(arg => arg === '-y' || arg === '--yes')) return args
  return ['-y', ...args]
}

/** By the path alone: a query may hold anything. */
function looksLikeSse(url: string): boolean {
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '')
  return path.endsWith('/sse') || path.endsWith('/messages')
}

function namedSecrets(declaration: NestedDeclaration, secrets: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set(namedVariables(JSON.stringify(declaration)))
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => names.has(name)))
}
