import type { Channel } from '../gateway/wire-channel.ts'
import { Credit, Inbox, sendWithCredit } from '../gateway/wire-credit.ts'
import { type LinkMessage, readMessage } from '../gateway/wire-message.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import type { CallOptions } from './gateway-client.ts'

/** After a cancellation the gateway has this long to answer with what there is. */
const CANCEL_LIMIT_MS = 3000
/** With more than this untaken by the gateway, calls fail: one that never acknowledges shall not fill our memory. */
const MAX_BACKLOG = 64 * 1024 * 1024

interface Call {
  id: number
  method: string
  params: object
  options: CallOptions
  channel: Channel | undefined
  lane: 'control' | 'bulk'
  credit: Credit
  inbox: Inbox | undefined
  reading: Promise<void> | undefined
  settle(error: WorkspaceError | undefined, result?: unknown): void
}

/** The host's calls on one gateway: those that wait for a link, and those whose answers are awaited. */
export class Calls {
  readonly #calls = new Map<number, Call>()
  readonly #notified: (method: string, params: Record<string, unknown>) => void
  #lastId = 0

  constructor(notified: (method: string, params: Record<string, unknown>) => void) {
    this.#notified = notified
  }

  get size(): number {
    return this.#calls.size
  }

  /** Makes a call; it goes out at once where there is a channel, else with `sendWaiting`. */
  make(
    method: string,
    params: object,
    { channel, ...options }: CallOptions & { channel: Channel | undefined },
  ): Promise<unknown> {
    if (options.signal?.aborted === true) return Promise.reject(cancelled(method))
    return new Promise((resolve, reject) => {
      const call = this.#create(method, params, options)
      const onAbort = (): void => this.#cancel(call)
      options.signal?.addEventListener('abort', onAbort, { once: true })
      call.settle = (error, result) => {
        if (!this.#calls.delete(call.id)) return
        options.signal?.removeEventListener('abort', onAbort)
        call.credit.fail(() => error ?? new WorkspaceError('cancelled', `"${method}" has been answered`))
        if (error === undefined) resolve(result)
        else reject(error)
      }
      if (channel !== undefined) this.#send(call, channel)
    })
  }

  /** Sends the calls that no channel has carried yet. */
  sendWaiting(channel: Channel): void {
    for (const call of [...this.#calls.values()]) if (call.channel === undefined) this.#send(call, channel)
  }

  /** Fails every call, but for those of `kept` and those that wait. */
  fail(error: WorkspaceError, kept?: Channel) {
    for (const call of [...this.#calls.values()]) {
      if (kept !== undefined && (call.channel === undefined || call.channel === kept)) continue
      call.inbox?.end(error)
      call.settle(error)
    }
  }

  /** A message of the gateway; throws `protocol` for one that can't be right. */
  message(raw: Record<string, unknown>) {
    const message = readMessage(raw)
    if (message.kind === 'request') throw new WorkspaceError('protocol', 'A gateway makes no requests')
    if (message.kind !== 'notification') return this.#answer(message)
    if (message.method !== 'credit') return this.#notified(message.method, message.params)
    const { id, bytes } = message.params
    if (Number.isSafeInteger(bytes) && (bytes as number) > 0) this.#calls.get(id as number)?.credit.grant(bytes as number)
  }

  chunk(id: number, bytes: Buffer): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    if (call.inbox === undefined) this.#read(call)
    call.inbox?.push(bytes)
  }

  #create(method: string, params: object, options: CallOptions): Call {
    const id = ++this.#lastId
    const call: Call = {
      ...{ id, method, params, options, channel: undefined, lane: 'control', credit: new Credit() },
      ...{ inbox: undefined, reading: undefined, settle() {} },
    }
    this.#calls.set(id, call)
    return call
  }

  #send(call: Call, channel: Channel) {
    const { id, method, params } = call
    call.channel = channel
    if (channel.backlog > MAX_BACKLOG) return call.settle(untaken(method))
    try {
      call.lane = channel.send({ jsonrpc: '2.0', id, method, params }, call.options.ordered ? 'bulk' : 'control')
    } catch (error) {
      return call.settle(toWorkspaceError(error))
    }
    if (call.options.input !== undefined) void this.#feed(call, channel, call.options.input)
  }

  async #feed(call: Call, channel: Channel, input: AsyncIterable<Uint8Array>): Promise<void> {
    const { id } = call
    try {
      for await (const chunk of input) {
        await sendWithCredit(call.credit, chunk, part => channel.sendChunk(id, part))
      }
      channel.send({ jsonrpc: '2.0', method: 'stream', params: { id, end: true } }, 'bulk')
    } catch (thrown) {
      if (!this.#calls.has(id)) return
      const error = toWorkspaceError(thrown)
      channel.send({ jsonrpc: '2.0', method: 'stream', params: { id, error: error.message } }, 'bulk')
      this.#notify(call, '$/cancel', {})
      call.settle(error)
    }
  }

  /** Gives the call's stream to its reader, chunk by chunk. */
  #read(call: Call) {
    const inbox = new Inbox(bytes => this.#notify(call, 'credit', { bytes }))
    const { onChunk } = call.options
    call.inbox = inbox
    if (onChunk === undefined) return inbox.drop()
    call.reading = (async () => {
      for await (const chunk of inbox) await onChunk(chunk)
    })()
    call.reading.catch(error => {
      this.#notify(call, '$/cancel', {})
      call.settle(toWorkspaceError(error))
    })
  }

  #answer(message: LinkMessage & { kind: 'result' | 'error' }) {
    const call = this.#calls.get(message.id)
    if (call === undefined) return
    if (message.kind === 'error') {
      call.inbox?.end(message.error)
      return call.settle(message.error)
    }
    call.inbox?.end()
    if (call.reading === undefined) call.settle(undefined, message.result)
    else
      call.reading.then(
        () => call.settle(undefined, message.result),
        () => {},
      )
  }

  #cancel(call: Call) {
    const error = cancelled(call.method)
    if (call.channel === undefined) return call.settle(error)
    this.#notify(call, '$/cancel', {})
    const timer = setTimeout(() => {
      call.inbox?.end(error)
      call.settle(error)
    }, CANCEL_LIMIT_MS).unref()
    const settle = call.settle
    call.settle = (failure, result) => {
      clearTimeout(timer)
      settle(failure, result)
    }
  }

  #notify(call: Call, method: string, params: object) {
    const { id, channel } = call
    if (channel === undefined || !this.#calls.has(id)) return
    if (channel.backlog > MAX_BACKLOG) return call.settle(untaken(call.method))
    channel.send({ jsonrpc: '2.0', method, params: { id, ...params } }, call.lane)
  }
}

function cancelled(method: string): WorkspaceError {
  return new WorkspaceError('cancelled', `"${method}" was cancelled`)
}

function untaken(method: string): WorkspaceError {
  return new WorkspaceError('unavailable', `"${method}": the gateway has not taken ${MAX_BACKLOG} bytes of earlier calls`)
}
