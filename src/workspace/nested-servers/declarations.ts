import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { layoutOf } from '../layout.ts'
import { declarationFault } from './declaration.ts'
import { ExtrasFile } from './extras-file.ts'
import { completeEntry, type EntryExtras, extrasOf, readEntry, toEntry } from './mcp-entry.ts'
import { McpFile } from './mcp-file.ts'
import type { NestedScope, ServerDeclaration } from './port.ts'
import { StateFile } from './state-file.ts'

/** A declaration that can be used, and who made it. */
export interface Declared {
  declaration: ServerDeclaration
  /** `config`: the operator's, word for word, wherever it is written. */
  source: 'config' | 'added'
}

export interface ScopeDeclarations {
  servers: Declared[]
  /** Entries that can't be used, with the reason. */
  skipped: { name: string; fault: string }[]
}

export interface DeclarationsOptions {
  root: string
  /** What a scope has that never changed anything. */
  defaults: readonly ServerDeclaration[]
  logger: Logger
}

/** The nested servers that are declared in a workspace: the operator's defaults, and where a scope differs from them. */
export class Declarations {
  readonly #options: DeclarationsOptions
  readonly #mcp: StateFile
  readonly #extras: StateFile
  readonly #unreadable: StateFile

  constructor(gateway: GatewayCalls, options: DeclarationsOptions) {
    const { mcpFile, own } = layoutOf(options.root)
    this.#options = options
    this.#mcp = new StateFile(gateway, mcpFile)
    this.#extras = new StateFile(gateway, posix.join(own, 'mcp.json'))
    this.#unreadable = new StateFile(gateway, posix.join(own, 'mcp-unreadable.json'))
  }

  async read(scope: NestedScope): Promise<ScopeDeclarations> {
    const [text, extras] = await Promise.all([this.#mcp.read(), this.#extras.read()])
    const file = new McpFile(text)
    if (file.fault !== undefined) this.#options.logger.warn({}, `.mcp is not read, the defaults apply: ${file.fault}`)
    const entries = file.entries(scope)
    if (entries !== undefined) return this.#usable(entries, new ExtrasFile(extras).of(scope))
    return { servers: this.#options.defaults.map(declaration => ({ declaration, source: 'config' })), skipped: [] }
  }

  /** Records a server. Throws `already_exists` for a name that the scope has. */
  async add(scope: NestedScope, declaration: ServerDeclaration): Promise<void> {
    await this.#change(scope, entries => {
      if (entries.some(entry => nameOf(entry) === declaration.name)) throw alreadyThere(declaration.name)
      return [...entries, toEntry(declaration)]
    })
    await this.#note(scope, declaration.name, extrasOf(declaration))
  }

  /** Strikes a server out; gives whether there was one. */
  async remove(scope: NestedScope, name: string): Promise<boolean> {
    let found = false
    await this.#change(scope, entries => {
      const left = entries.filter(entry => nameOf(entry) !== name)
      found = left.length < entries.length
      return found ? left : undefined
    })
    if (found) await this.#note(scope, name, {})
    return found
  }

  /** The scope inherits the defaults again. */
  async forget(scope: NestedScope): Promise<void> {
    await this.#mcp.update(text => {
      const file = new McpFile(text)
      return { text: file.forget(scope) ? String(file) : undefined, result: undefined }
    })
    await this.#extras.update(text => {
      const file = new ExtrasFile(text)
      return { text: file.forget(scope) ? String(file) : undefined, result: undefined }
    })
  }

  /** The same for all sessions of an agent. */
  async forgetAgent(agent: string): Promise<void> {
    for (const session of new McpFile(await this.#mcp.read()).sessions(agent)) await this.forget({ agent, session })
  }

  /** Changes the entries of a scope; those of the defaults are copied in first. */
  async #change(scope: NestedScope, change: (entries: readonly unknown[]) => unknown[] | undefined): Promise<void> {
    const lost = await this.#mcp.update(text => {
      const file = new McpFile(text)
      const entries = file.entries(scope) ?? this.#options.defaults.map(toEntry)
      const changed = change(entries)
      if (changed === undefined) return { text: undefined, result: undefined }
      file.set(scope, changed.map(completeEntry))
      return { text: String(file), result: file.fault === undefined ? undefined : text }
    })
    // Somebody may still want what could not be read.
    if (lost !== undefined) await this.#unreadable.update(() => ({ text: lost, result: undefined }))
  }

  /** What the `.mcp` file has no room for; a default's stands in the configuration. */
  async #note(scope: NestedScope, name: string, extras: EntryExtras): Promise<void> {
    await this.#extras.update(text => {
      const file = new ExtrasFile(text)
      return { text: file.set(scope, name, extras) ? String(file) : undefined, result: undefined }
    })
  }

  #usable(entries: readonly unknown[], extras: Readonly<Record<string, EntryExtras>>): ScopeDeclarations {
    const servers = new Map<string, Declared>()
    const skipped: ScopeDeclarations['skipped'] = []
    for (const [index, entry] of entries.entries()) {
      const name = nameOf(entry) ?? `entry ${index + 1}`
      const read = readEntry(entry)
      if ('fault' in read) skipped.push({ name, fault: read.fault })
      else if (servers.has(name)) skipped.push({ name, fault: 'its name stands there twice' })
      else servers.set(name, this.#declared(read, extras[name]))
    }
    for (const { name, fault } of skipped) this.#options.logger.warn({ server: name }, `an entry of .mcp is skipped: ${fault}`)
    return { servers: [...servers.values()], skipped }
  }

  /** An entry that says what the operator's says is the operator's: it was copied in at the scope's first change. */
  #declared(read: ServerDeclaration, extras: EntryExtras | undefined): Declared {
    const byDefault = this.#options.defaults.find(({ name }) => name === read.name)
    if (byDefault !== undefined && isDeepStrictEqual(readEntry(toEntry(byDefault)), read))
      return { declaration: byDefault, source: 'config' }
    const whole = { ...read, ...extras }
    const sound = declarationFault(whole) === undefined && typeof (whole.startTimeoutMs ?? 0) === 'number'
    return { declaration: sound ? whole : read, source: 'added' }
  }
}

function nameOf(entry: unknown): string | undefined {
  const name = typeof entry === 'object' && entry !== null ? (entry as { name?: unknown }).name : undefined
  return typeof name === 'string' ? name : undefined
}

/** The error of a second server of one name. */
export function alreadyThere(name: string): WorkspaceError {
  return new WorkspaceError('already_exists', `There is a server ${JSON.stringify(name)} already.`, {
    hint: 'Remove it first, or choose another name.',
  })
}
