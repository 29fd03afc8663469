import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { Ring } from './ring.ts'

/** Output that is kept for a client that comes back, stdout and stderr together. */
const RING_BYTES = 1024 ** 2

/** Who gets the output: `false` when it has enough for now. */
export interface Sink {
  output(channel: 1 | 2, bytes: Buffer): boolean
  exit(code: number): void
  /** It could not be started. */
  failed(reason: string): void
}

/** One process behind `/pty`, in pipe mode. It starts at its first client, and again at the next one when it has ended. */
export class PtySession {
  readonly id = randomUUID().replaceAll('-', '')
  readonly ring = new Ring(RING_BYTES)
  readonly #command: string | undefined
  readonly #cwd: string
  #child: ChildProcess | undefined
  #sink: Sink | undefined

  constructor({ command, cwd }: { command?: string; cwd?: string }) {
    this.#command = command
    this.#cwd = cwd || '/'
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get taken(): boolean {
    return this.#sink !== undefined
  }

  /** Starts the process where none runs, and gives its output to `sink` from now on; before that, what is held from `since` on. */
  attach(sink: Sink, replay: (from: number, bytes: Buffer) => void, since: number): void {
    if (!this.running) this.#start()
    const { from, bytes } = this.ring.read(since)
    if (bytes.length > 0) replay(from, bytes)
    this.#sink = sink
    this.resume()
  }

  detach(sink: Sink): void {
    if (this.#sink !== sink) return
    this.#sink = undefined
    // Nobody listens: it goes on into the ring.
    this.resume()
  }

  /** The process's input; `undefined` when it has ended. */
  get input(): Writable | undefined {
    return this.#child?.stdin ?? undefined
  }

  resume(): void {
    this.#child?.stdout?.resume()
    this.#child?.stderr?.resume()
  }

  /** A signal to the whole group. */
  signal(name: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined || !this.running) return
    try {
      process.kill(-pid, name)
    } catch {
      // It ended by itself in the meantime.
    }
  }

  #start(): void {
    const argv = ['--norc', '--noprofile', ...(this.#command === undefined ? [] : ['-c', this.#command])]
    const child = spawn('bash', argv, { cwd: this.#cwd, detached: true, stdio: 'pipe' })
    this.#child = child
    this.#carry(child.stdout, 1)
    this.#carry(child.stderr, 2)
    child.stdin.on('error', () => {})
    child.once('error', ({ message }) => this.#sink?.failed(message))
    // At the exit, not when all output has been read: the last of it may be overtaken.
    child.once('exit', code => {
      if (this.#child === child) this.#sink?.exit(code ?? -1)
    })
  }

  #carry(stream: Readable, channel: 1 | 2): void {
    stream.on('data', (bytes: Buffer) => {
      this.ring.push(bytes)
      if (this.#sink?.output(channel, bytes) === false) stream.pause()
    })
  }
}
