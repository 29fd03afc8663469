import { randomBytes } from 'node:crypto'
import type { Mount } from '../shared/containers.ts'
import type { Sandboxes, SandboxRecord } from '../shared/sandboxes.ts'
import { ACCOUNT_LABEL, type Accounts, DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S, type SandboxData } from './sandbox.ts'

export type Sandbox = SandboxRecord<SandboxData>

/** Names of templates that are there beside `base`. */
const TEMPLATES = new Set(['base', 'atelier'])

export interface CreateBody {
  templateID: string
  metadata?: Record<string, string>
  envVars?: Record<string, string>
  /** Seconds. */
  timeout?: number
  autoPause?: boolean
}

/** Sandboxes that begin, pause and end, by request and by their clocks. */
export class Life {
  readonly #sandboxes: Sandboxes<SandboxData>
  readonly #accounts: Accounts
  readonly #clocks = new Map<string, NodeJS.Timeout>()
  /** Each sandbox does one thing at a time. */
  readonly #queues = new Map<string, Promise<unknown>>()
  /** Its streams break now. */
  onInterrupted: (id: string) => void = () => {}

  constructor(sandboxes: Sandboxes<SandboxData>, accounts: Accounts) {
    this.#sandboxes = sandboxes
    this.#accounts = accounts
    for (const { id } of sandboxes.all()) this.#wind(id)
  }

  knows(template: string): boolean {
    return TEMPLATES.has(template)
  }

  async create(account: string, body: CreateBody): Promise<Sandbox> {
    const { templateID, metadata = {}, envVars = {}, timeout, autoPause = false, ...asked } = body
    const data: SandboxData = {
      ...{ account, template: templateID, metadata, envs: envVars, autoPause, asked, state: 'starting' },
      ...{ token: randomBytes(16).toString('hex'), startedAt: new Date().toISOString(), endAt: endOf(timeout) },
    }
    const id = `i${randomBytes(10).toString('hex')}`
    const record = await this.#sandboxes.create({
      id,
      data,
      env: envVars,
      mounts: this.#mountsFor(account, metadata),
      labels: { [ACCOUNT_LABEL]: account },
    })
    // Its time begins when it runs.
    this.#sandboxes.update(id, { state: 'running', startedAt: new Date().toISOString(), endAt: endOf(timeout) })
    this.#wind(id)
    return record
  }

  #mountsFor(account: string, metadata: Record<string, string>): Mount[] {
    const wanted = this.#accounts.get(account) ?? []
    return wanted.filter(mount => Object.entries(mount.metadata ?? {}).every(([key, value]) => metadata[key] === value))
  }

  /** Resumes what is paused; of one that runs the end is only put off. */
  connect(id: string, { timeout, memory }: { timeout?: number; memory?: boolean }): Promise<void> {
    return this.#inTurn(id, async () => {
      const sandbox = this.#sandboxes.get(id)
      if (sandbox === undefined) return
      const end = endOf(timeout)
      if (sandbox.data.state === 'paused') {
        await this.#wake(id, memory !== false)
        this.#sandboxes.update(id, { state: 'running', endAt: end })
      } else if (end > sandbox.data.endAt) this.#sandboxes.update(id, { endAt: end })
      this.#wind(id)
    })
  }

  async #wake(id: string, memory: boolean): Promise<void> {
    const state = await this.#sandboxes.state(id)
    if (state === 'paused') await this.#sandboxes.resume(id)
    if (state === 'stopped') return this.#sandboxes.start(id)
    if (memory) return
    await this.#sandboxes.stop(id)
    await this.#sandboxes.start(id)
  }

  setTimeout(id: string, seconds: number): void {
    this.#sandboxes.update(id, { endAt: endOf(seconds) })
    this.#wind(id)
  }

  /** Whether it was running. Without memory all that runs ends. */
  pause(id: string, { memory = true }: { memory?: boolean } = {}): Promise<boolean> {
    return this.#inTurn(id, async () => {
      if (this.#sandboxes.get(id)?.data.state !== 'running') return false
      this.#sandboxes.update(id, { state: 'paused' })
      this.#stopClock(id)
      await (memory ? this.#sandboxes.pause(id) : this.#sandboxes.stop(id))
      this.onInterrupted(id)
      return true
    })
  }

  kill(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#stopClock(id)
      this.#sandboxes.update(id, { state: 'ending' })
      await this.#sandboxes.remove(id)
      this.onInterrupted(id)
    })
  }

  /** Its time is over. */
  async expire(id: string): Promise<void> {
    if (this.#sandboxes.get(id)?.data.autoPause) await this.pause(id)
    else await this.kill(id)
  }

  stopClocks(): void {
    for (const id of this.#clocks.keys()) this.#stopClock(id)
  }

  #wind(id: string): void {
    this.#stopClock(id)
    const sandbox = this.#sandboxes.get(id)
    if (sandbox?.data.state !== 'running') return
    const left = Math.max(0, Date.parse(sandbox.data.endAt) - Date.now())
    this.#clocks.set(
      id,
      setTimeout(() => void this.expire(id).catch(() => {}), left),
    )
  }

  #stopClock(id: string): void {
    clearTimeout(this.#clocks.get(id))
    this.#clocks.delete(id)
  }

  #inTurn<T>(id: string, run: () => Promise<T>): Promise<T> {
    const turn = (this.#queues.get(id) ?? Promise.resolve()).then(run, run)
    this.#queues.set(id, turn)
    return turn
  }
}

function endOf(timeout = DEFAULT_TIMEOUT_S): string {
  return new Date(Date.now() + Math.min(timeout, MAX_TIMEOUT_S) * 1_000).toISOString()
}
