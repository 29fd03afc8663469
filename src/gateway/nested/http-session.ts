import type { IncomingMessage } from 'node:http'
import { WorkspaceError } from '../../lib/errors.ts'
import type { NestedAnswer, NestedMessage, NestedRequest } from '../protocol-nested.ts'
import { failureOf, type HttpClient, readBody, type ServerAddress } from './http-request.ts'
import { MAX_MESSAGE_BYTES } from './transport.ts'

const ACCEPT = 'application/json, text/event-stream'
const SESSION = 'mcp-session-id'

/** The session that a Streamable HTTP server keeps for us: its id, its protocol version, and how it is made again. */
export class HttpSession {
  readonly #client: HttpClient
  readonly #options: ServerAddress
  readonly #signal: AbortSignal
  #id: string | undefined
  #version: string | undefined
  #initialize: NestedRequest | undefined
  #renewing: Promise<void> | undefined

  constructor(client: HttpClient, options: ServerAddress, signal: AbortSignal) {
    this.#client = client
    this.#options = options
    this.#signal = signal
  }

  /** Whether the server gave the session an id. */
  get named(): boolean {
    return this.#id !== undefined
  }

  /** Posts a message. A session that the server has forgotten is made again, once, with the first `initialize`. */
  async post(message: NestedMessage): Promise<IncomingMessage> {
    const id = this.#id
    const answer = await this.#post(message)
    if (answer.statusCode !== 404 || id === undefined || this.#initialize === undefined) return answer
    answer.resume()
    if (this.#id === id) {
      this.#renewing ??= this.#renew(this.#initialize).finally(() => (this.#renewing = undefined))
    }
    await this.#renewing
    return this.#post(message)
  }

  /** The stream of news, or after `lastId` what a broken stream still owes. */
  get(lastId?: string): Promise<IncomingMessage> {
    const resume = lastId === undefined ? {} : { 'last-event-id': lastId }
    const headers = { ...this.#headers(), accept: 'text/event-stream', ...resume }
    return this.#client.request(this.#options.url, { method: 'GET', headers, signal: this.#signal })
  }

  /** The server has answered `initialize`. */
  initialized(request: NestedRequest, answer: NestedAnswer): void {
    this.#initialize = request
    const version = (answer.result as { protocolVersion?: unknown } | undefined)?.protocolVersion
    if (typeof version === 'string') this.#version = version
  }

  /** Says goodbye, as far as the server cares. */
  async end(signal: AbortSignal): Promise<void> {
    if (this.#id === undefined) return
    try {
      const answer = await this.#client.request(this.#options.url, { method: 'DELETE', headers: this.#headers(), signal })
      answer.resume()
    } catch {
      // The server is gone, or will end the session by itself.
    }
  }

  async #post(message: NestedMessage): Promise<IncomingMessage> {
    const headers = { ...this.#headers(), accept: ACCEPT, 'content-type': 'application/json' }
    const body = JSON.stringify(message)
    const answer = await this.#client.request(this.#options.url, { method: 'POST', headers, body, signal: this.#signal })
    const id = answer.headers[SESSION]
    if ('method' in message && message.method === 'initialize' && typeof id === 'string') this.#id = id
    return answer
  }

  async #renew(initialize: NestedRequest): Promise<void> {
    this.#id = undefined
    const answer = await this.#post(initialize)
    if ((answer.statusCode ?? 0) >= 300)
      throw new WorkspaceError('unavailable', `its session ended, and ${await failureOf(answer)}`)
    await readBody(answer, MAX_MESSAGE_BYTES)
    const done = await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    done.resume()
  }

  #headers(): Record<string, string> {
    return {
      ...this.#options.headers,
      ...(this.#id === undefined ? {} : { [SESSION]: this.#id }),
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
    }
  }
}
