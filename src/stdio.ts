import { isUtf8 } from 'node:buffer'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from './lib/errors.ts'
import type { Scope } from './manager/scope.ts'
import { type EndCause, watchForEnd } from './mcp/end-watch.ts'
import { LineReader } from './mcp/line-reader.ts'
import { LineWriter } from './mcp/line-writer.ts'
import type { JsonRpcMessage } from './mcp/message.ts'
import type { NestedUpstreamOptions } from './mcp/nested/nested-upstream.ts'
import { writeStartList } from './mcp/nested/start-list.ts'
import { type ClientSession, createSession, type McpServices, type SessionOptions } from './mcp/session.ts'
import { errorAnswer, INVALID_REQUEST, PARSE_ERROR } from './mcp/shape.ts'
import { guardOutput } from './mcp/stdout-guard.ts'
import { WarmUp } from './mcp/warm-up.ts'

/** What the loader did before the rest was there. */
export interface StdioHandover {
  /** The `initialize` request that it answered. */
  initialize?: JsonRpcMessage
  /** It answered the first `tools/list`. */
  listed: boolean
  /** Where the tools of nested servers are kept for such a quick start, and those that it showed. */
  nested?: { path: string; shown?: readonly Record<string, unknown>[] }
  /** Input that it did not deal with, in order. */
  chunks: Buffer[]
  /** Input has ended already. */
  ended: boolean
}

export interface StdioOptions {
  input: Readable
  output: Writable
  /** Where stray output goes. */
  errors: Writable
  /** Rejects when the configuration is wrong: the message is shown and the end has code 2. */
  services(): Promise<McpServices>
  scope: Scope
  /** Takes over from the loader: from the call on, input is ours. */
  handover?: (() => StdioHandover) | undefined
  /** Called once, when everything is let go of or the time for it is over. */
  onEnd(code: number): void
  createSession?(services: McpServices, options: SessionOptions): ClientSession
}

const LINE_MAX_BYTES = 64 * 1024 ** 2
const QUEUE_MAX_BYTES = 64 * 1024 ** 2
/** A client waits 2 s before it sends a signal; what takes longer is the gateway's to finish. */
const CLOSE_MS = 1_200
/** How long requests that came just before the end of the input may still be answered. */
const SETTLE_MS = 400
const SETTLE_POLL_MS = 10
const CONFIGURATION_ERROR = 2

/** Serves one client over two byte streams until either ends, a signal comes, or the parent is gone. */
export function runStdio(options: StdioOptions): void {
  new StdioServer(options).start()
}

class StdioServer {
  readonly #options: StdioOptions
  readonly #handover: StdioHandover | undefined
  readonly #writer: LineWriter
  readonly #reader: LineReader
  readonly #warmUp: WarmUp
  readonly #stopWatching: () => void
  readonly #restoreOutput: () => void
  #early: JsonRpcMessage[] = []
  #services: McpServices | undefined
  #session: ClientSession | undefined
  #phase: 'serving' | 'settling' | 'closing' = 'serving'

  constructor(options: StdioOptions) {
    this.#options = options
    this.#handover = options.handover?.()
    const { sink, restore } = guardOutput(options.output, options.errors)
    this.#restoreOutput = restore
    this.#writer = new LineWriter(sink, { maxQueuedBytes: QUEUE_MAX_BYTES, onBroken: reason => this.#over('output', reason) })
    this.#reader = new LineReader({
      maxBytes: LINE_MAX_BYTES,
      onLine: line => this.#line(line),
      onTooLong: () =>
        this.#writer.write(
          errorAnswer(null, INVALID_REQUEST, `A message may have ${LINE_MAX_BYTES} bytes; this one was skipped.`),
        ),
    })
    this.#warmUp = new WarmUp(() => this.#openDefault(), { listed: this.#handover?.listed ?? false })
    this.#stopWatching = watchForEnd(options, (cause, reason) => this.#over(cause, reason))
  }

  start(): void {
    for (const chunk of this.#handover?.chunks ?? []) this.#reader.push(chunk)
    this.#options.input.on('data', this.#onData)
    this.#options.services().then(
      services => this.#ready(services),
      error => this.#misconfigured(error),
    )
    if (this.#handover?.ended) this.#over('input', 'stdin ended')
  }

  readonly #onData = (chunk: Buffer): void => this.#reader.push(chunk)

  #line(line: Buffer): void {
    const text = line.toString('utf8')
    if (text.trim() === '') return
    let message: JsonRpcMessage
    try {
      // Decoding would put U+FFFD into files without a word.
      if (!isUtf8(line)) throw new SyntaxError('it is no UTF-8')
      message = JSON.parse(text)
    } catch (error) {
      this.#writer.write(errorAnswer(null, PARSE_ERROR, `The line is no JSON: ${(error as Error).message}`))
      return
    }
    if (this.#session === undefined) this.#early.push(message)
    else this.#receive(this.#session, message)
  }

  #receive(session: ClientSession, message: JsonRpcMessage): void {
    session.receive(message)
    if (typeof message === 'object' && message !== null && 'method' in message) this.#warmUp.saw(message.method)
  }

  #ready(services: McpServices): void {
    this.#services = services
    if (this.#phase === 'closing') return
    const { scope } = this.#options
    const make = this.#options.createSession ?? createSession
    const answered = this.#handover?.initialize
    this.#session = make(services, {
      scope,
      send: message => this.#writer.write(message),
      ...(answered !== undefined && { answeredInitialize: answered }),
      ...(this.#handover?.nested !== undefined && { nested: this.#startList(this.#handover.nested, services) }),
    })
    for (const message of this.#early.splice(0)) this.#receive(this.#session, message)
  }

  #startList({ path, shown }: NonNullable<StdioHandover['nested']>, { logger }: McpServices): NestedUpstreamOptions {
    let kept = shown === undefined ? undefined : JSON.stringify(shown)
    let writing = Promise.resolve()
    const onTools = (tools: readonly Record<string, unknown>[]): void => {
      const text = JSON.stringify(tools)
      if (text === kept || (kept === undefined && tools.length === 0)) return
      kept = text
      writing = writing
        .then(() => writeStartList(path, tools))
        .catch(error => logger.warn({ path, error: String(error) }, 'the tool list could not be kept'))
    }
    return { announcedTools: shown, onTools }
  }

  #openDefault(): void {
    const logger = this.#services?.logger
    this.#session?.warmUp().catch(error => {
      logger?.warn({ error: String(error) }, 'the default workspace could not be opened ahead of use')
    })
  }

  #misconfigured(error: unknown): void {
    const text = error instanceof WorkspaceError ? error.text : error instanceof Error ? error.message : String(error)
    this.#options.errors.write(`atelier: ${text}\n`)
    void this.#end(CONFIGURATION_ERROR)
  }

  #over(cause: EndCause, reason: string): void {
    this.#services?.logger.debug({ reason }, 'the client is gone')
    if (cause !== 'input') void this.#end(0)
    else if (this.#phase === 'serving') void this.#settle()
  }

  async #settle(): Promise<void> {
    this.#phase = 'settling'
    this.#reader.end()
    const until = performance.now() + SETTLE_MS
    const unanswered = (): boolean => this.#session === undefined || this.#session.inFlight > 0
    while (this.#phase === 'settling' && unanswered() && performance.now() < until) await sleep(SETTLE_POLL_MS)
    await this.#end(0)
  }

  async #end(code: number): Promise<void> {
    if (this.#phase === 'closing') return
    this.#phase = 'closing'
    this.#stopWatching()
    this.#warmUp.stop()
    this.#options.input.off('data', this.#onData).pause()
    const limit = new AbortController()
    await Promise.race([this.#letGo(), sleep(CLOSE_MS, undefined, { signal: limit.signal }).catch(() => {})])
    limit.abort()
    this.#restoreOutput()
    this.#options.onEnd(code)
  }

  async #letGo(): Promise<void> {
    try {
      await this.#session?.close()
      await this.#services?.manager[Symbol.asyncDispose]()
    } catch (error) {
      this.#services?.logger.warn({ error: String(error) }, 'not everything could be closed')
    }
    await this.#writer.drained()
  }
}
