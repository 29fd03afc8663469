import type { EntryExtras } from './mcp-entry.ts'
import type { NestedScope } from './port.ts'

type Extras = Record<string, EntryExtras>

/** What the `.mcp` file has no room for, by scope and server: `.atelier/mcp.json`. What can't be read counts as empty. */
export class ExtrasFile {
  readonly #scopes: Record<string, Extras>

  constructor(text: string | undefined) {
    this.#scopes = parse(text)
  }

  of(scope: NestedScope): Readonly<Extras> {
    return this.#scopes[keyOf(scope)] ?? {}
  }

  /** Gives whether anything changed. */
  set(scope: NestedScope, name: string, extras: EntryExtras): boolean {
    const key = keyOf(scope)
    const { [name]: before, ...others } = this.#scopes[key] ?? {}
    const isEmpty = Object.keys(extras).length === 0
    if (isEmpty && before === undefined) return false
    this.#scopes[key] = isEmpty ? others : { ...others, [name]: extras }
    if (Object.keys(this.#scopes[key] ?? {}).length === 0) delete this.#scopes[key]
    return true
  }

  forget(scope: NestedScope): boolean {
    return keyOf(scope) in this.#scopes && delete this.#scopes[keyOf(scope)]
  }

  toString(): string {
    return JSON.stringify({ version: 1, scopes: this.#scopes }, undefined, 2)
  }
}

function keyOf({ agent, session }: NestedScope): string {
  return JSON.stringify([agent, session])
}

function parse(text: string | undefined): Record<string, Extras> {
  try {
    const { scopes } = JSON.parse(text ?? '{}') as { scopes?: Record<string, Extras> }
    return typeof scopes === 'object' && scopes !== null && !Array.isArray(scopes) ? scopes : {}
  } catch {
    return {}
  }
}
