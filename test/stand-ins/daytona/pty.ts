import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { HOME } from '../shared/containers.ts'
import type { Faults } from '../shared/faults.ts'
import type { Output, SandboxProcess, TerminalSize } from '../shared/process.ts'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { Refusal, type Sandbox, type SandboxData } from './sandbox.ts'
import { environmentOf, loginShell } from './shell.ts'

/** A larger message breaks the connection. */
const INBOUND_BYTES = 64 * 1024
const OUTBOUND_BYTES = 32 * 1024
/** More frames than this that a client has not taken yet end its connection. */
const QUEUE_FRAMES = 256
const SLOW = 1008
const NORMAL = 1000
const FAILED = 1011
const EXIT_CONTROL = 'X-Daytona-Pty-Exit-Control'
const ENVS = 'X-Daytona-Pty-Envs~'

export interface PtyRequest {
  id: string
  cols?: number
  rows?: number
  cwd?: string
  envs?: Record<string, string>
  lazyStart?: boolean
}

/** Behaviours of terminals that stay until they are changed. */
export interface PtyModes {
  /** What a program writes in the last ms before its end is lost; all output comes so much later. */
  loseTailMs?: number
}

/** Ends a process and all below it, whatever group or session they are in. */
const KILL_TREE = `tree() { for stat in /proc/[0-9]*/stat; do
  read -r line < "$stat" 2>/dev/null || continue
  pid=\${line%% *}; set -- "$1" \${line##*)}
  [ "$3" = "$1" ] && (tree "$pid")
done; echo "$1"; }
kill -s KILL $(tree "$1") 2>/dev/null`

/** Terminals of all sandboxes. They live on when nobody is connected; what they write then is lost. */
export class Terminals {
  readonly #sandboxes: Sandboxes<SandboxData>
  readonly #faults: Faults
  readonly #terminals = new Map<string, Terminal>()
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: INBOUND_BYTES,
    handleProtocols: offered => [...offered].find(name => !name.startsWith(ENVS)) ?? false,
  })

  constructor(sandboxes: Sandboxes<SandboxData>, faults: Faults) {
    this.#sandboxes = sandboxes
    this.#faults = faults
  }

  list(sandbox: string): object[] {
    return [...this.#terminals.values()].filter(terminal => terminal.sandbox.id === sandbox).map(({ info }) => info)
  }

  get(sandbox: string, id: string): Terminal | undefined {
    return this.#terminals.get(`${sandbox}/${id}`)
  }

  async create(sandbox: Sandbox, request: PtyRequest): Promise<Terminal> {
    const key = `${sandbox.id}/${request.id}`
    if (this.#terminals.has(key)) throw new Refusal(409, `PTY session ${request.id} already exists`)
    const terminal = new Terminal(sandbox, request, {
      sandboxes: this.#sandboxes,
      modes: () => this.#faults.modes as PtyModes,
      over: () => this.#terminals.delete(key),
    })
    this.#terminals.set(key, terminal)
    if (!request.lazyStart) await terminal.start()
    return terminal
  }

  /** `process/pty/ID/connect`, or `process/pty/create-connect` with the request in the query. */
  async upgrade(
    { id, rest, query, message }: { id: string; rest: string[]; query: URLSearchParams; message: IncomingMessage },
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    const [kind, pty, ref = '', verb] = rest
    const known = kind === 'process' && pty === 'pty' && (ref === 'create-connect' || verb === 'connect')
    if (sandbox === undefined || !known || sandbox.data.state !== 'started') {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      return
    }
    const client = await new Promise<WebSocket>(resolve => this.#server.handleUpgrade(message, socket, head, resolve))
    client.on('error', () => {})
    try {
      const terminal = ref === 'create-connect' ? await this.create(sandbox, requestOf(query, message)) : this.get(id, ref)
      if (terminal === undefined) throw new Refusal(404, `PTY session ${ref} not found`)
      await terminal.connect(client)
    } catch (error) {
      client.send(JSON.stringify({ type: 'control', status: 'error', error: (error as Error).message }))
      client.close(FAILED, JSON.stringify({ error: (error as Error).message }))
    }
  }

  /** The sandbox ended: connections break, terminals are forgotten. */
  interrupt(id: string): void {
    for (const terminal of this.#terminals.values()) if (terminal.sandbox.id === id) terminal.break()
  }

  interruptAll(): void {
    for (const terminal of this.#terminals.values()) terminal.break()
  }
}

function requestOf(query: URLSearchParams, { headers }: IncomingMessage): PtyRequest {
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(/,\s*/)
  const envs = offered.find(name => name.startsWith(ENVS))?.slice(ENVS.length)
  return {
    ...{ id: query.get('id') ?? '', cols: Number(query.get('cols') ?? 80), rows: Number(query.get('rows') ?? 24) },
    ...(query.has('cwd') ? { cwd: query.get('cwd') as string } : {}),
    ...(envs === undefined ? {} : { envs: JSON.parse(Buffer.from(envs, 'base64url').toString()) as Record<string, string> }),
  }
}

interface TerminalParts {
  sandboxes: Sandboxes<SandboxData>
  modes(): PtyModes
  over(): void
}

/** A login shell on a terminal, and those who are connected to it. */
class Terminal {
  readonly sandbox: Sandbox
  readonly #request: PtyRequest
  readonly #parts: TerminalParts
  readonly #createdAt = new Date().toISOString()
  readonly #clients = new Map<WebSocket, number>()
  #shell: Promise<SandboxProcess> | undefined
  #over = false

  constructor(sandbox: Sandbox, request: PtyRequest, parts: TerminalParts) {
    this.sandbox = sandbox
    this.#request = request
    this.#parts = parts
  }

  get info(): object {
    const { id, cwd = HOME, envs = {}, cols = 80, rows = 24, lazyStart = false } = this.#request
    return { id, cwd, envs, cols, rows, lazyStart, createdAt: this.#createdAt, active: this.#shell !== undefined && !this.#over }
  }

  start(): Promise<SandboxProcess> {
    this.#shell ??= this.#start()
    return this.#shell
  }

  async connect(client: WebSocket): Promise<void> {
    this.#clients.set(client, 0)
    client.once('close', () => this.#clients.delete(client))
    let last = Promise.resolve()
    client.on('message', data => {
      last = last.then(async () => (await this.start()).write(data as Buffer))
    })
    const shell = this.start()
    client.send(JSON.stringify({ type: 'control', status: 'connected' }))
    await shell
  }

  async resize(size: TerminalSize): Promise<void> {
    Object.assign(this.#request, size)
    await (await this.#shell)?.resize(size)
  }

  async kill(): Promise<void> {
    const shell = await this.#shell
    if (shell === undefined) return this.#end(NORMAL, { exitCode: -1 })
    const killer = await this.#parts.sandboxes.spawn(this.sandbox.id, ['bash', '-c', KILL_TREE, 'bash', String(shell.pid)], {
      env: { PATH: '/usr/bin:/bin' },
    })
    killer.output.resume()
    await killer.exited
  }

  break(): void {
    this.#over = true
    this.#parts.over()
    for (const client of this.#clients.keys()) client.terminate()
    void this.#shell?.then(shell => shell.release())
  }

  async #start(): Promise<SandboxProcess> {
    const { cwd = HOME, envs = {}, cols = 80, rows = 24 } = this.#request
    const { sandboxes } = this.#parts
    const path = await loginShell(sandboxes, this.sandbox.id)
    const env = { ...environmentOf(this.sandbox), TERM: 'xterm-256color', ...envs }
    const shell = await sandboxes.terminal(this.sandbox.id, [path, '-i', '-l'], { cwd, env, size: { cols, rows } })
    void this.#read(shell)
    return shell
  }

  async #read(shell: SandboxProcess): Promise<void> {
    const late = this.#parts.modes().loseTailMs
    for await (const { data } of shell.output as AsyncIterable<Output>) {
      if (late === undefined) this.#say(data)
      else setTimeout(() => this.#say(data), late).unref()
    }
    const { code, signal } = await shell.exited
    const exitCode = code ?? -1
    this.#end(exitCode === 0 ? NORMAL : FAILED, { exitCode, ...(signal === null ? {} : { exitReason: signal }) })
  }

  #say(data: Buffer): void {
    for (let at = 0; at < data.length; at += OUTBOUND_BYTES) {
      const frame = data.subarray(at, at + OUTBOUND_BYTES)
      for (const [client, waiting] of this.#clients) {
        if (client.readyState !== WebSocket.OPEN) continue
        if (waiting >= QUEUE_FRAMES) {
          this.#clients.delete(client)
          client.close(SLOW, 'slow consumer')
          continue
        }
        this.#clients.set(client, waiting + 1)
        client.send(frame, () => this.#clients.has(client) && this.#clients.set(client, (this.#clients.get(client) ?? 1) - 1))
      }
    }
  }

  #end(code: number, exit: { exitCode: number; exitReason?: string }): void {
    if (this.#over) return
    this.#over = true
    this.#parts.over()
    for (const client of this.#clients.keys()) {
      if (client.protocol === EXIT_CONTROL) client.send(JSON.stringify({ type: 'control', status: 'exited', ...exit }))
      client.close(code, JSON.stringify(exit))
    }
  }
}
