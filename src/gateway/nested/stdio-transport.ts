import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import { preferAsVictim } from '../commands/running-command.ts'
import { endTree, type MarkedProcesses } from '../commands/tree-end.ts'
import type { NestedMessage } from '../protocol-nested.ts'
import { ByteLines } from './byte-lines.ts'
import { readEnds, readMessages } from './read-messages.ts'
import { MAX_MESSAGE_BYTES, type NestedTransport, type TransportEnd, type TransportEvents } from './transport.ts'

/** Messages that a server has not read yet, in bytes; more are refused. */
const MAX_UNREAD = 64 * 1024 * 1024
/** After its exit a server's output is read on for so long, where somebody still holds the other end. */
const DRAIN_MS = 200
/** A server whose input has ended gets so long to end by itself. */
const EOF_MS = 400
const NOISE_CHARS = 500

export interface StdioOptions {
  command: string
  args: readonly string[]
  env: Record<string, string>
  cwd: string
  /** What marks its processes, wherever they go. */
  mark: string
  marked: MarkedProcesses
}

/** Starts a server as a child in a session and process group of its own, and speaks lines of JSON with it. */
export function startServer(options: StdioOptions, events: TransportEvents): NestedTransport {
  return new StdioTransport(options, events)
}

class StdioTransport implements NestedTransport {
  readonly #options: StdioOptions
  readonly #events: TransportEvents
  readonly #child: ChildProcess
  readonly #exited: Promise<TransportEnd>
  #ended = false
  #closing: Promise<void> | undefined
  #cleaned: Promise<unknown> | undefined

  constructor(options: StdioOptions, events: TransportEvents) {
    this.#options = options
    this.#events = events
    const { command, args, cwd, env } = options
    this.#child = spawn(command, args, { cwd, env, detached: true, stdio: 'pipe' })
    this.#exited = exitOf(this.#child, command)
    this.#read()
    if (this.#child.pid !== undefined) preferAsVictim(this.#child.pid)
    void this.#exited.then(end => this.#finish(end))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  send(message: NestedMessage): void {
    const { stdin } = this.#child
    if (this.#ended || stdin === null || !stdin.writable) return
    if (stdin.writableLength > MAX_UNREAD)
      throw new WorkspaceError('limit_exceeded', `The server has not read ${stdin.writableLength} bytes of earlier messages.`)
    stdin.write(`${JSON.stringify(message)}\n`)
  }

  pause(): void {
    this.#child.stdout?.pause()
  }

  resume(): void {
    this.#child.stdout?.resume()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#child.stdin?.end()
    this.#child.stdout?.resume()
    const limit = new AbortController()
    await Promise.race([this.#exited, sleep(EOF_MS, undefined, { signal: limit.signal }).catch(() => {})])
    limit.abort()
    await this.#endProcesses()
    await this.#exited
  }

  #read(): void {
    const { stdin, stdout, stderr } = this.#child
    const events = this.#events
    const lines = new ByteLines(
      {
        line: text => this.#line(text),
        overlong: (head, tail, bytes) => events.refused(bytes, readEnds(head, tail)),
      },
      MAX_MESSAGE_BYTES,
    )
    stdout?.on('data', (chunk: Buffer) => lines.push(chunk))
    stdout?.on('end', () => lines.end())
    stderr?.setEncoding('utf8').on('data', (text: string) => events.noise(text))
    // The other end may go at any time; that it went is told by its exit.
    for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => {})
  }

  #line(text: string): void {
    const messages = readMessages(text)
    for (const message of messages) this.#events.message(message)
    if (messages.length === 0 && text.trim() !== '') this.#events.noise(`[stdout] ${text.slice(0, NOISE_CHARS)}\n`)
  }

  async #finish(end: TransportEnd): Promise<void> {
    await this.#drained()
    this.#ended = true
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy()
    this.#events.closed(end)
    await this.#endProcesses()
  }

  #drained(): Promise<void> {
    const { stdout } = this.#child
    if (stdout === null || stdout.readableEnded || stdout.destroyed) return Promise.resolve()
    stdout.resume()
    return new Promise(resolve => {
      const timer = setTimeout(resolve, DRAIN_MS)
      stdout.once('close', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #endProcesses(): Promise<unknown> {
    const { mark, marked } = this.#options
    this.#cleaned ??= this.#child.pid === undefined ? Promise.resolve() : endTree({ group: this.#child.pid, mark }, marked)
    return this.#cleaned
  }
}

function exitOf(child: ChildProcess, command: string): Promise<TransportEnd> {
  return new Promise(resolve => {
    child.once('exit', (code, signal) => {
      const reason = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`
      resolve({ reason, ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }) })
    })
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return
      const why = error.code === 'ENOENT' ? 'is not on the PATH there' : `can't be started (${error.code ?? error.message})`
      resolve({ reason: `the command ${JSON.stringify(command)} ${why}` })
    })
  })
}
