import type { NestedAnswer } from '../../gateway/protocol.ts'
import { sleep } from '../../lib/deadline.ts'
import { listable } from './list-items.ts'
import type { KeptLists } from './port.ts'

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
/** A list that changes while it is read is read again after a pause, each time twice as long. */
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 10_000
/** Odd items that are told of, a list. */
const MAX_TOLD = 3

/** A reading of a kind of lists; what changes before it has begun is in it. */
interface Reading {
  pauseMs: number
  begun: boolean
  done: Promise<void>
  next?: Promise<void>
}

export interface ListKeeperOptions {
  /** Whether the server still runs. */
  running(): boolean
  ask(method: string, params: Record<string, unknown>): Promise<NestedAnswer>
  changed(): void
  log(reason: string): void
}

/** The lists of a server as it last gave them whole; read when it starts, and again whenever it says that one changed. */
export class ListKeeper {
  readonly #options: ListKeeperOptions
  readonly #warnings = new Map<keyof KeptLists, string[]>()
  readonly #reading = new Map<Kind, Reading>()
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
    return [...this.#warnings.values()].flat()
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

  /** Reads a kind of list; one that changes while it is read is read once more. */
  #read(kind: Kind, pauseMs = 0): Promise<void> {
    const running = this.#reading.get(kind)
    if (running !== undefined && !running.begun) return running.done
    if (running !== undefined) {
      const pause = Math.min(Math.max(FIRST_PAUSE_MS, 2 * running.pauseMs), LONGEST_PAUSE_MS)
      running.next ??= running.done.then(() => this.#read(kind, pause))
      return running.next
    }
    const reading: Reading = { pauseMs, begun: false, done: Promise.resolve() }
    this.#reading.set(kind, reading)
    reading.done = this.#readOnce(kind, reading).finally(() => this.#reading.delete(kind))
    return reading.done
  }

  async #readOnce(kind: Kind, reading: Reading): Promise<void> {
    if (reading.pauseMs > 0) await sleep(reading.pauseMs, { unref: true })
    reading.begun = true
    if (!this.#options.running()) return
    await Promise.all(LISTS[kind].map(list => this.#readList(list)))
    this.#options.changed()
  }

  async #readList({ method, key }: { method: string; key: keyof KeptLists }): Promise<void> {
    const read = await this.#pages(method, key)
    if (typeof read === 'string') {
      this.#warnings.set(key, [`Its ${key} could not be listed: ${read}`])
      this.#options.log(`${method}: ${read}`)
      return
    }
    const odd: string[] = []
    const items = listable(key, read, fault => odd.push(`Of its ${key}, ${fault}.`))
    this.#warnings.set(
      key,
      odd.length > MAX_TOLD ? [...odd.slice(0, MAX_TOLD), `And ${odd.length - MAX_TOLD} more like that.`] : odd,
    )
    this.#lists = { ...this.#lists, [key]: items }
  }

  /** All pages of a list, or what went wrong. */
  async #pages(method: string, key: keyof KeptLists): Promise<unknown[] | string> {
    const items: unknown[] = []
    const seen = new Set<unknown>()
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const { result, error } = await this.#options.ask(method, cursor === undefined ? {} : { cursor })
      if (error?.code === NO_SUCH_METHOD && key === 'resourceTemplates') return []
      if (error !== undefined) return error.message
      const { [key]: part, nextCursor } = (result ?? {}) as Record<string, unknown>
      if (!Array.isArray(part)) return `it gave no ${key}`
      for (const item of part) items.push(item)
      if (nextCursor === undefined || nextCursor === null) return items
      if (seen.has(nextCursor)) return 'its pages lead in a circle'
      seen.add(nextCursor)
      cursor = nextCursor
    }
    return `it has more than ${MAX_PAGES} pages`
  }
}
