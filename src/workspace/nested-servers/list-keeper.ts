import type { NestedAnswer } from '../../gateway/protocol.ts'
import type { KeptLists } from './port.ts'

type Items = Record<string, unknown>[]
type Kind = 'tools' | 'prompts' | 'resources'

/** Methods and keys of the lists that a capability has. */
const LISTS: Readonly<Record<Kind, readonly { method: string; key: keyof KeptLists }[]>> = {
  tools: [{ method: 'tools/list', key: 'tools' }],
  prompts: [{ method: 'prompts/list', key: 'prompts' }],
  resources: [
    { method: 'resources/list', key: 'resources' },
    { method: 'resources/templates/list', key: 'resourceTemplates' },
  ],
}
const KINDS = Object.keys(LISTS) as Kind[]
/** A server may divide its lists into so many pages, and no more. */
const MAX_PAGES = 1000
const NO_SUCH_METHOD = -32601

export interface ListKeeperOptions {
  ask(method: string, params: Record<string, unknown>): Promise<NestedAnswer>
  changed(): void
  log(reason: string): void
}

/** The lists of a server as it last gave them whole; read when it starts, and again whenever it says that one changed. */
export class ListKeeper {
  readonly #options: ListKeeperOptions
  readonly #faults = new Map<keyof KeptLists, string>()
  readonly #reading = new Map<Kind, { again: boolean; done: Promise<void> }>()
  #lists: KeptLists = {}
  #settled: Promise<void> = Promise.resolve()

  constructor(options: ListKeeperOptions) {
    this.#options = options
  }

  get lists(): KeptLists {
    return this.#lists
  }

  /** What went wrong with lists, for people. */
  get warnings(): string[] {
    return [...this.#faults].map(([key, fault]) => `Its ${key} could not be listed: ${fault}`)
  }

  /** Resolves when what was being read is read. */
  get settled(): Promise<void> {
    return this.#settled
  }

  /** Reads every list that the capabilities promise. */
  readAll(capabilities: unknown): Promise<void> {
    const promised = typeof capabilities === 'object' && capabilities !== null ? capabilities : {}
    const kinds = KINDS.filter(kind => kind in promised)
    this.#settled = Promise.all(kinds.map(kind => this.#read(kind))).then(() => {})
    return this.#settled
  }

  /** `notifications/…/list_changed` came; resolves when the kept list is a new one. */
  changed(method: string): Promise<void> {
    const kind = KINDS.find(each => method === `notifications/${each}/list_changed`)
    return kind === undefined ? Promise.resolve() : this.#read(kind)
  }

  /** Reads a kind of list; what changes meanwhile is read once more. */
  #read(kind: Kind): Promise<void> {
    const running = this.#reading.get(kind)
    if (running !== undefined) {
      running.again = true
      return running.done
    }
    const state = { again: false, done: Promise.resolve() }
    this.#reading.set(kind, state)
    state.done = this.#readUntilStable(kind, state).finally(() => this.#reading.delete(kind))
    return state.done
  }

  async #readUntilStable(kind: Kind, state: { again: boolean }): Promise<void> {
    do {
      state.again = false
      await Promise.all(LISTS[kind].map(list => this.#readList(list)))
    } while (state.again)
    this.#options.changed()
  }

  async #readList({ method, key }: { method: string; key: keyof KeptLists }): Promise<void> {
    const read = await this.#pages(method, key)
    if (typeof read === 'string') {
      this.#faults.set(key, read)
      this.#options.log(`${method}: ${read}`)
      return
    }
    this.#faults.delete(key)
    this.#lists = { ...this.#lists, [key]: read }
  }

  /** All pages of a list, or what went wrong. */
  async #pages(method: string, key: keyof KeptLists): Promise<Items | string> {
    const items: Items = []
    const seen = new Set<unknown>()
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const { result, error } = await this.#options.ask(method, cursor === undefined ? {} : { cursor })
      if (error?.code === NO_SUCH_METHOD && key === 'resourceTemplates') return []
      if (error !== undefined) return error.message
      const { [key]: part, nextCursor } = (result ?? {}) as Record<string, unknown>
      if (!Array.isArray(part)) return `it gave no ${key}`
      items.push(...part.filter(item => typeof item === 'object' && item !== null))
      if (nextCursor === undefined || nextCursor === null) return items
      if (seen.has(nextCursor)) return 'its pages lead in a circle'
      seen.add(nextCursor)
      cursor = nextCursor
    }
    return `it has more than ${MAX_PAGES} pages`
  }
}
