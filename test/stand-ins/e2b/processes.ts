import { AgentError } from '../shared/agent-client.ts'
import type { Exit, SandboxProcess, TerminalSize } from '../shared/process.ts'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { RpcError } from './connect-protocol.ts'
import type { SandboxData } from './sandbox.ts'

export interface ProcessConfig {
  cmd: string
  args?: string[]
  envs?: Record<string, string>
  cwd?: string
}

/** Hears of a process; a promise that it gives back holds it up. */
export type Subscriber = (event: ProcessEvent) => Promise<void>

export type ProcessEvent =
  | { start: { pid: number } }
  | { data: { stdout?: string; stderr?: string; pty?: string } }
  | { keepalive: object }
  | { end: { exitCode?: number; exited: boolean; status: string; error?: string } }

export interface Running {
  process: SandboxProcess
  terminal: boolean
  subscribers: Set<Subscriber>
  over: ProcessEvent | undefined
}

/** An exit is remembered for so long. */
const REMEMBERED_MS = 30_000
const HOME = '/home/user'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The processes of all sandboxes, and who listens to them. What nobody listens to is thrown away. */
export class Processes {
  readonly #sandboxes: Sandboxes<SandboxData>
  readonly #known = new Map<string, Map<number, Running>>()

  constructor(sandboxes: Sandboxes<SandboxData>) {
    this.#sandboxes = sandboxes
  }

  async start(
    id: string,
    config: ProcessConfig,
    options: { stdin: boolean; size?: TerminalSize; user: string; subscriber: Subscriber },
  ): Promise<Running> {
    const { cmd, args = [], envs = {}, cwd = HOME } = config
    const { stdin, size, user } = options
    const folder = await this.#sandboxes.stat(id, cwd).catch((error: AgentError) => {
      if (error.code === 'EGONE') throw new RpcError('unavailable', 'the sandbox is not running')
    })
    if (folder?.type !== 'dir') throw new RpcError('invalid_argument', `cwd '${cwd}' does not exist`)
    const env = { PATH, HOME, USER: user, LOGNAME: user, ...this.#sandboxes.get(id)?.data.envs, ...envs }
    const process = await (size === undefined
      ? this.#sandboxes.spawn(id, [cmd, ...args], { cwd, env, stdin })
      : this.#sandboxes.terminal(id, [cmd, ...args], { cwd, env, size })
    ).catch(error => {
      throw new RpcError('invalid_argument', (error as Error).message)
    })
    return this.#follow(id, process, { terminal: size !== undefined, subscriber: options.subscriber })
  }

  /** A process by its number; one that another stand-in started is taken up. */
  async get(id: string, pid: number): Promise<Running> {
    const known = this.#known.get(id)?.get(pid)
    if (known !== undefined) return known
    try {
      return this.#follow(id, await this.#sandboxes.attach(id, pid), { terminal: false })
    } catch (error) {
      if (!(error instanceof AgentError)) throw error
      throw new RpcError('not_found', `process with pid ${pid} not found`)
    }
  }

  forget(id: string): void {
    for (const { process } of this.#known.get(id)?.values() ?? []) process.release()
    this.#known.delete(id)
  }

  #follow(id: string, process: SandboxProcess, how: { terminal: boolean; subscriber?: Subscriber }): Running {
    const { terminal, subscriber } = how
    const running: Running = { process, terminal, subscribers: new Set(subscriber && [subscriber]), over: undefined }
    const all = this.#known.get(id) ?? new Map<number, Running>()
    this.#known.set(id, all.set(process.pid, running))
    void this.#pump(running).then(() => {
      const timer = setTimeout(() => all.get(process.pid) === running && all.delete(process.pid), REMEMBERED_MS)
      timer.unref()
    })
    return running
  }

  async #pump(running: Running): Promise<void> {
    const { process, subscribers } = running
    await Promise.all([...subscribers].map(tell => tell({ start: { pid: process.pid } })))
    for await (const { from, data } of process.output as AsyncIterable<{ from: 'stdout' | 'stderr' | 'pty'; data: Buffer }>) {
      if (subscribers.size === 0) continue
      const event = { data: { [from]: data.toString('base64') } }
      await Promise.all([...subscribers].map(tell => tell(event)))
    }
    running.over = { end: endOf(await process.exited) }
    for (const tell of subscribers) await tell(running.over)
  }
}

/** Zero is left out, and a signal is -1. */
function endOf({ code, signal }: Exit): { exitCode?: number; exited: boolean; status: string; error?: string } {
  const exitCode = code ?? -1
  const status = code === null ? `signal: ${signal}` : `exit status ${code}`
  return { ...(exitCode === 0 ? {} : { exitCode, error: status }), exited: code !== null, status }
}
