import { WorkspaceError } from '../lib/errors.ts'
import type { CallContext, Handlers, LinkContext } from './dispatch.ts'
import type { Method } from './protocol.ts'
import type { Channel } from './wire-channel.ts'
import { Credit, Inbox, sendWithCredit } from './wire-credit.ts'
import { errorMessage, type LinkMessage } from './wire-message.ts'

interface Call {
  abort: AbortController
  credit: Credit
  input: Inbox
  lane: 'control' | 'bulk'
  detached: 'lost' | 'goodbye' | undefined
  listeners: ((reason: 'lost' | 'goodbye') => void)[]
}

/** The calls of one link that run in the gateway: requests in, answers and streams out. */
export class LinkCalls {
  readonly #channel: Channel
  readonly #handlers: Handlers
  readonly #attached: () => boolean
  readonly #calls = new Map<number, Call>()

  constructor(channel: Channel, handlers: Handlers, attached: () => boolean) {
    this.#channel = channel
    this.#handlers = handlers
    this.#attached = attached
  }

  get running(): number {
    return this.#calls.size
  }

  /** Starts a call; its answer goes to the channel when it comes. */
  request({ id, method, params }: LinkMessage & { kind: 'request' }, link: LinkContext | undefined) {
    if (link === undefined) return this.#refuse(id, new WorkspaceError('protocol', `"${method}" came before "open"`))
    const known = Object.hasOwn(this.#handlers, method)
    if (!known) return this.#refuse(id, new WorkspaceError('unsupported', `The gateway has no method "${method}"`))
    if (this.#calls.has(id)) throw new WorkspaceError('protocol', `The call id ${id} is in use`)
    const call = this.#open(id)
    const handler = this.#handlers[method as Method] as (params: unknown, context: CallContext) => Promise<unknown>
    Promise.resolve()
      .then(() => handler(params, this.#context(id, call, link)))
      .then(
        result => this.#answer(id, call, { jsonrpc: '2.0', id, result }),
        error => this.#answer(id, call, errorMessage(id, error)),
      )
  }

  /** `$/cancel`, `credit`, `stream`: about a call that may have ended meanwhile. */
  notification(method: string, params: Record<string, unknown>): void {
    const call = this.#calls.get(params.id as number)
    if (call === undefined) return
    if (method === '$/cancel') call.abort.abort(new WorkspaceError('cancelled', 'The call was cancelled'))
    else if (method === 'credit' && isCount(params.bytes)) call.credit.grant(params.bytes)
    else if (method === 'stream' && params.end === true) call.input.end()
    else if (method === 'stream' && typeof params.error === 'string')
      call.input.end(new WorkspaceError('cancelled', params.error))
  }

  chunk(id: number, bytes: Buffer): void {
    this.#calls.get(id)?.input.push(bytes)
  }

  /** Nobody waits for the answers any more. */
  detach(reason: 'lost' | 'goodbye'): void {
    const error = new WorkspaceError('unavailable', 'The host has left')
    for (const call of this.#calls.values()) {
      call.detached = reason
      call.credit.fail(() => error)
      call.input.end(error)
      for (const listener of call.listeners.splice(0)) listener(reason)
    }
  }

  /** Ends the calls, as a cancellation of each would. */
  cancelAll(): void {
    for (const call of this.#calls.values()) call.abort.abort(new WorkspaceError('cancelled', 'The host has left'))
  }

  #open(id: number): Call {
    const call: Call = {
      abort: new AbortController(),
      credit: new Credit(),
      input: new Inbox(bytes => this.#channel.send({ jsonrpc: '2.0', method: 'credit', params: { id, bytes } })),
      lane: 'control',
      detached: undefined,
      listeners: [],
    }
    this.#calls.set(id, call)
    return call
  }

  #context(id: number, call: Call, link: LinkContext): CallContext {
    const write = (part: Uint8Array): void => {
      call.lane = 'bulk'
      this.#channel.sendChunk(id, part)
    }
    return {
      link,
      signal: call.abort.signal,
      attached: this.#attached,
      sendable: () => Math.max(0, call.credit.left),
      send(chunk) {
        const sent = sendWithCredit(call.credit, chunk, write)
        sent.catch(() => {})
        return sent
      },
      input: call.input,
      onDetach(listener) {
        if (call.detached === undefined) call.listeners.push(listener)
        else listener(call.detached)
      },
    }
  }

  #answer(id: number, call: Call, message: object): void {
    this.#calls.delete(id)
    call.credit.fail(() => new WorkspaceError('internal', 'The call has been answered'))
    call.input.end()
    if (call.detached !== undefined) return
    try {
      this.#channel.send(message, call.lane)
    } catch (error) {
      this.#channel.send(errorMessage(id, error), call.lane)
    }
  }

  #refuse(id: number, error: WorkspaceError): void {
    this.#channel.send(errorMessage(id, error))
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
