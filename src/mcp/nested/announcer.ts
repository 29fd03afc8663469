import { createHash } from 'node:crypto'
import type { Catalogue, Items } from './catalogue.ts'

/** The lists that a client is told of. */
export type ListKind = 'tools' | 'prompts' | 'resources'
export const LIST_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** Tells a client that a list changed: once for all that happens in one turn, and only what is not what it was told before. */
export class Announcer {
  readonly #tell: (kind: ListKind) => void
  readonly #known = new Map<ListKind, string>()
  readonly #pending = new Set<ListKind>()
  #flush: NodeJS.Immediate | undefined

  constructor(tell: (kind: ListKind) => void) {
    this.#tell = tell
  }

  /** The client has this list, or will get it: nothing is told. */
  know(kind: ListKind, ...lists: readonly Items[]): void {
    this.#known.set(kind, digest(lists.flat()))
  }

  /** These are the lists now: those that differ from what the client was shown, or from before, are told of. */
  now({ lists }: Catalogue): void {
    for (const kind of LIST_KINDS) {
      const before = this.#known.get(kind)
      this.know(kind, ...listsOf(kind, lists))
      if (before !== undefined && this.#known.get(kind) !== before) this.told(kind)
    }
  }

  /** A server says that its list changed. */
  told(kind: ListKind): void {
    this.#pending.add(kind)
    this.#flush ??= setImmediate(() => {
      this.#flush = undefined
      const kinds = [...this.#pending]
      this.#pending.clear()
      for (const each of kinds) this.#tell(each)
    })
  }

  close(): void {
    clearImmediate(this.#flush)
  }
}

function listsOf(kind: ListKind, lists: Catalogue['lists']): Items[] {
  return kind === 'resources' ? [lists.resources, lists.resourceTemplates] : [lists[kind]]
}

function digest(items: Items): string {
  return createHash('sha256').update(JSON.stringify(items)).digest('base64')
}
