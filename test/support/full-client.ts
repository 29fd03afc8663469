import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onLines } from './reference-server/lines.mjs'

export type Message = { id?: string | number; method?: string; params?: Params; result?: Params; error?: Params }
type Params = Record<string, unknown>

export interface Spawned {
  command: string
  args: readonly string[]
  env: Record<string, string>
  cwd: string
}

/** Every capability that a client can have. */
const CAPABILITIES = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
}

/** What it answers to a server: always the same. */
const ANSWERS: Record<string, (params: Params) => Params> = {
  'sampling/createMessage': params => ({
    role: 'assistant',
    content: { type: 'text', text: `sampled ${JSON.stringify(params.messages).length}` },
    model: 'a-model',
    stopReason: 'endTurn',
    _meta: { 'example.com/kept': [1, { two: null }] },
  }),
  'elicitation/create': params =>
    params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { username: 'u', email: 'e@example.com' } },
  'roots/list': () => ({ roots: [{ uri: 'file:///somewhere', name: 'somewhere', _meta: { odd: true } }] }),
  ping: () => ({}),
}

/** A client with every capability, on the bare messages: nothing that comes is checked, dropped or put in another order. */
export class FullClient {
  /** Everything that came, in order. */
  readonly received: Message[] = []
  readonly child: ChildProcess
  readonly #silent = new Set<string>()
  readonly #checks = new Set<() => void>()
  #last = 0

  constructor({ command, args, env, cwd }: Spawned) {
    this.child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] })
    onLines(this.child.stdout!, line => this.#receive(JSON.parse(line) as Message))
    this.child.stdin!.on('error', () => {})
  }

  async initialize(capabilities: Params = CAPABILITIES): Promise<Message> {
    const answer = await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'full', version: '1' },
    })
    this.notify('notifications/initialized')
    return answer
  }

  /** Leaves requests of this method without an answer. */
  ignore(method: string): void {
    this.#silent.add(method)
  }

  heed(method: string): void {
    this.#silent.delete(method)
  }

  /** Id of the last request. */
  get lastId(): number {
    return this.#last
  }

  /** Sends a request, and resolves with the answer. */
  request(method: string, params?: Params): Promise<Message> {
    return this.answer(this.send(method, params))
  }

  /** Sends a request, and gives its id. */
  send(method: string, params?: Params): number {
    const id = ++this.#last
    this.write(params === undefined ? { id, method } : { id, method, params })
    return id
  }

  answer(id: number): Promise<Message> {
    return this.until(message => message.id === id && message.method === undefined)
  }

  notify(method: string, params?: Params): void {
    this.write(params === undefined ? { method } : { method, params })
  }

  write(message: object): void {
    this.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  /** Resolves with the first message from `from` on that fits. */
  until(fits: (message: Message) => boolean, from = 0, ms = 60_000): Promise<Message> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#checks.delete(check)
        reject(
          new Error(`It did not come within ${ms} ms; the last were ${JSON.stringify(this.received.slice(-5)).slice(0, 2_000)}`),
        )
      }, ms)
      const check = (): void => {
        const found = this.received.slice(from).find(fits)
        if (found === undefined) return
        clearTimeout(late)
        this.#checks.delete(check)
        resolve(found)
      }
      this.#checks.add(check)
      check()
    })
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.stdin!.end()
    await ended
  }

  #receive(message: Message): void {
    this.received.push(message)
    const { id, method, params = {} } = message
    if (method !== undefined && id !== undefined && !this.#silent.has(method)) this.#respond(id, method, params)
    for (const check of [...this.#checks]) check()
  }

  #respond(id: string | number, method: string, params: Params): void {
    const token = (params._meta as Params | undefined)?.progressToken
    if (token !== undefined) this.notify('notifications/progress', { progressToken: token, progress: 0.5, odd: 'kept' })
    const make = ANSWERS[method]
    if (make !== undefined) this.write({ id, result: make(params) })
    else this.write({ id, error: { code: -32601, message: `No ${method} here`, data: { kept: [method] } } })
  }
}
