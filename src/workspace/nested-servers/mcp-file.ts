import { isRecord } from '../../lib/is-record.ts'
import type { NestedScope } from './port.ts'

/** Per agent, per session: a list, each item as it stands in the file; or something else that somebody wrote there. */
type Scopes = Record<string, Record<string, unknown>>

/** The content of a `.mcp` file: only scopes that differ from the defaults are in it. */
export class McpFile {
  /** Why the file could not be read, where it was there. */
  readonly fault: string | undefined
  readonly #rest: Record<string, unknown>
  readonly #mcps: Scopes

  /** Reads version 2, and version 1, a bare list, as that of the unnamed scope. What can't be read counts as empty. */
  constructor(text: string | undefined) {
    const read = parse(text)
    this.fault = 'fault' in read ? read.fault : undefined
    this.#mcps = 'fault' in read ? {} : read.mcps
    this.#rest = 'fault' in read ? {} : read.rest
  }

  /** The entries of a scope; `undefined` where it has the defaults. What is no list is one entry, which can't be used. */
  entries({ agent, session }: NestedScope): readonly unknown[] | undefined {
    const found = own(own(this.#mcps, agent), session)
    return found === undefined || Array.isArray(found) ? found : [found]
  }

  set({ agent, session }: NestedScope, entries: unknown[]): void {
    const sessions = own(this.#mcps, agent) ?? {}
    put(sessions, session, entries)
    put(this.#mcps, agent, sessions)
  }

  /** The scope has the defaults again. Gives whether it differed. */
  forget({ agent, session }: NestedScope): boolean {
    const sessions = own(this.#mcps, agent)
    if (sessions === undefined || own(sessions, session) === undefined) return false
    delete sessions[session]
    if (Object.keys(sessions).length === 0) delete this.#mcps[agent]
    return true
  }

  /** Sessions of an agent that differ from the defaults. */
  sessions(agent: string): string[] {
    return Object.keys(own(this.#mcps, agent) ?? {})
  }

  /** The file's text, in version 2 and the form in which AgentScope writes it. */
  toString(): string {
    const text = JSON.stringify({ version: 2, mcps: this.#mcps, ...this.#rest }, undefined, 2)
    return text.replace(WHOLE_SECONDS, '$1.0$2')
  }
}

/** Times are written as floats, as Python does. */
const WHOLE_SECONDS = /^( *"(?:timeout|execution_timeout)": \d+)(,?)$/gm

function parse(text: string | undefined): { mcps: Scopes; rest: Record<string, unknown> } | { fault: string } {
  if (text === undefined) return { mcps: {}, rest: {} }
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    return { fault: `it is no JSON (${(error as Error).message})` }
  }
  if (Array.isArray(value)) return { mcps: { '': { '': value } }, rest: {} }
  if (!isRecord(value)) return { fault: 'it is neither an object nor a list' }
  const { version: _version, mcps = {}, ...rest } = value
  if (!isScopes(mcps)) return { fault: '"mcps" does not hold lists by agent and session' }
  return { mcps, rest }
}

function isScopes(value: unknown): value is Scopes {
  return isRecord(value) && Object.values(value).every(isRecord)
}

function own<T>(from: Record<string, T> | undefined, key: string): T | undefined {
  return from !== undefined && Object.hasOwn(from, key) ? from[key] : undefined
}

/** Also for a key as `__proto__`, which an assignment would not make. */
function put<T>(into: Record<string, T>, key: string, value: T): void {
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true })
}
