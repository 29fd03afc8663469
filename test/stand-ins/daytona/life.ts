import { randomUUID } from 'node:crypto'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { type Accounts, Refusal, type Sandbox, type SandboxData, type State } from './sandbox.ts'

const MINUTE_MS = 60_000
const TICK_MS = 1_000
const STORE_MS = 300
const DEFAULT_AUTO_STOP = 15
const DEFAULT_AUTO_ARCHIVE = 7 * 24 * 60

export interface CreateBody {
  name?: string
  labels?: Record<string, string>
  env?: Record<string, string>
  autoStopInterval?: number
  autoArchiveInterval?: number
  autoDeleteInterval?: number
  ttlMinutes?: number
  buildInfo?: { dockerfileContent?: string }
  snapshot?: string
}

/** Sandboxes that begin, stop and end, by request and by their clocks. A request answers at once; the state follows. */
export class Life {
  readonly #sandboxes: Sandboxes<SandboxData>
  readonly #accounts: Accounts
  /** Those that never got a container, or that lost it. */
  readonly #broken = new Map<string, Sandbox>()
  readonly #clock = setInterval(() => this.#tick(), TICK_MS).unref()
  /** Work behind an answer. */
  readonly #working = new Set<Promise<void>>()
  /** Its streams break now. */
  onInterrupted: (id: string) => void = () => {}

  constructor(sandboxes: Sandboxes<SandboxData>, accounts: Accounts) {
    this.#sandboxes = sandboxes
    this.#accounts = accounts
  }

  all(account: string): Sandbox[] {
    return [...this.#sandboxes.all(), ...this.#broken.values()].filter(({ data }) => data.account === account)
  }

  /** By id or name. */
  get(account: string, ref: string): Sandbox {
    const found = this.all(account).find(({ id, data }) => id === ref || data.name === ref)
    if (found === undefined) throw new Refusal(404, `Sandbox with ID or name ${ref} not found`)
    return found
  }

  create(account: string, body: CreateBody): Sandbox {
    const { name = `sandbox-${randomUUID()}`, labels = {}, env = {}, ...rest } = body
    const { autoStopInterval = DEFAULT_AUTO_STOP, autoArchiveInterval = DEFAULT_AUTO_ARCHIVE, ...others } = rest
    const { autoDeleteInterval = -1, ttlMinutes = 0, ...asked } = others
    if (this.all(account).some(({ data }) => data.name === name))
      throw new Refusal(409, `Sandbox with name ${name} already exists`)
    const now = new Date().toISOString()
    const ends = ttlMinutes > 0 ? { autoDestroyAt: new Date(Date.now() + ttlMinutes * MINUTE_MS).toISOString() } : {}
    const data: SandboxData = {
      ...{ account, name, labels, env, asked, state: 'creating', lastActivityAt: now, updatedAt: now },
      ...{ autoStopInterval, autoArchiveInterval, autoDeleteInterval, ...ends },
    }
    const id = randomUUID()
    const image = /^FROM (\S+)/m.exec(body.buildInfo?.dockerfileContent ?? '')?.[1]
    const all = this.#accounts.get(account) ?? []
    const mounts = all.filter(({ onlyWith }) => onlyWith === undefined || labels[onlyWith.label] === onlyWith.value)
    this.#behind(async () => {
      await this.#sandboxes
        .create({
          id,
          data,
          env,
          mounts,
          ...(image === undefined ? {} : { image }),
          labels: { 'atelier.stand-in.account': account },
        })
        .then(
          () => this.#set(id, 'started'),
          (error: Error) =>
            this.#fail({ id, createdAt: now, data }, image === undefined ? 'error' : 'build_failed', error.message),
        )
    })
    return this.get(account, id)
  }

  start(sandbox: Sandbox): void {
    const { state } = sandbox.data
    if (state === 'started') throw new Refusal(409, 'Sandbox is already started')
    if (state !== 'stopped' && state !== 'archived') throw changing(state)
    this.#set(sandbox.id, state === 'archived' ? 'restoring' : 'starting')
    this.#behind(async () => {
      if (state === 'archived') await pause(STORE_MS)
      await this.#sandboxes.start(sandbox.id)
      this.#set(sandbox.id, 'started')
    })
  }

  recover({ id, data }: Sandbox): void {
    if (data.state !== 'error' || !data.recoverable) throw new Refusal(400, 'Sandbox is not in a recoverable error')
    this.#sandboxes.update(id, { state: 'stopped', recoverable: false, errorReason: '' })
    this.start(this.get(data.account, id))
  }

  stop({ id, data }: Sandbox): void {
    if (data.state === 'stopped') throw new Refusal(400, 'Sandbox is not started')
    if (data.state !== 'started') throw changing(data.state)
    this.#set(id, 'stopping')
    this.#behind(async () => {
      await this.#sandboxes.stop(id)
      this.onInterrupted(id)
      this.#set(id, 'stopped')
      if (data.autoDeleteInterval === 0) await this.#remove(id)
    })
  }

  archive({ id, data }: Sandbox): void {
    if (data.state !== 'stopped') throw new Refusal(400, 'Sandbox is not stopped')
    this.#set(id, 'archiving')
    this.#behind(async () => {
      await pause(STORE_MS)
      this.#set(id, 'archived')
    })
  }

  delete({ id, data }: Sandbox): void {
    if (['creating', 'starting', 'stopping', 'restoring', 'archiving'].includes(data.state)) throw changing(data.state)
    this.#set(id, 'destroying')
    this.#behind(() => this.#remove(id))
  }

  /** Behind the client's back: in an error, with its container stopped. */
  async break(id: string, recoverable: boolean): Promise<void> {
    await this.#sandboxes.stop(id)
    this.onInterrupted(id)
    this.#sandboxes.update(id, { state: 'error', recoverable, errorReason: 'the runner lost it' })
  }

  /** Its time without activity is over. */
  async idle(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    if (sandbox?.data.state === 'started' && sandbox.data.autoStopInterval > 0) this.stop(sandbox)
    await this.settled()
  }

  /** Its time as a stopped one is over. */
  async rest(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    if (sandbox?.data.state !== 'stopped') return
    if (sandbox.data.autoDeleteInterval >= 0) this.delete(sandbox)
    else this.archive(sandbox)
    await this.settled()
  }

  touch(id: string): void {
    this.#sandboxes.update(id, { lastActivityAt: new Date().toISOString() })
  }

  update(id: string, data: Partial<SandboxData>): void {
    this.#sandboxes.update(id, data)
  }

  /** Nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working)
  }

  stopClock(): void {
    clearInterval(this.#clock)
  }

  #set(id: string, state: State): void {
    this.#sandboxes.update(id, { state, updatedAt: new Date().toISOString() })
  }

  async #remove(id: string): Promise<void> {
    this.#broken.delete(id)
    await this.#sandboxes.remove(id)
    this.onInterrupted(id)
  }

  #fail(sandbox: Sandbox, state: State, errorReason: string): void {
    this.#broken.set(sandbox.id, { ...sandbox, data: { ...sandbox.data, state, errorReason } })
  }

  #behind(work: () => Promise<void>): void {
    const done = work()
      .catch(() => {})
      .finally(() => this.#working.delete(done))
    this.#working.add(done)
  }

  #tick(): void {
    for (const sandbox of this.#sandboxes.all()) {
      const { state, autoStopInterval, autoDeleteInterval, autoArchiveInterval, lastActivityAt, updatedAt, autoDestroyAt } =
        sandbox.data
      const idle = (Date.now() - Date.parse(lastActivityAt)) / MINUTE_MS
      const rested = (Date.now() - Date.parse(updatedAt)) / MINUTE_MS
      const settled = state === 'started' || state === 'stopped'
      if (settled && autoDestroyAt !== undefined && Date.now() > Date.parse(autoDestroyAt)) this.delete(sandbox)
      else if (state === 'started' && autoStopInterval > 0 && idle > autoStopInterval) this.stop(sandbox)
      else if (state === 'stopped' && autoDeleteInterval > 0 && rested > autoDeleteInterval) this.delete(sandbox)
      else if (state === 'stopped' && autoArchiveInterval > 0 && rested > autoArchiveInterval) this.archive(sandbox)
    }
  }
}

function changing(state: State): Refusal {
  return new Refusal(409, `Sandbox state change in progress: ${state}`)
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
