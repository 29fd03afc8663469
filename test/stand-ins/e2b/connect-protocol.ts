import type { IncomingMessage, ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { sendJson } from '../shared/server.ts'

/** What a call is refused with, in the words of the Connect protocol. */
export class RpcError extends Error {
  readonly code: keyof typeof STATUS

  constructor(code: keyof typeof STATUS, message: string) {
    super(message)
    this.code = code
  }
}

const STATUS = {
  invalid_argument: 400,
  unauthenticated: 401,
  not_found: 404,
  already_exists: 409,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  deadline_exceeded: 504,
}
const HEADER = 5
const COMPRESSED = 1
const LAST = 2

export function failUnary(response: ServerResponse, error: RpcError): void {
  sendJson(response, STATUS[error.code], { code: error.code, message: error.message })
}

/** Messages of a stream that the client sends, as they come. */
export async function* readMessages(message: IncomingMessage): AsyncGenerator<unknown> {
  let kept: Buffer = Buffer.alloc(0)
  for await (const chunk of message) {
    kept = Buffer.concat([kept, chunk as Buffer])
    while (kept.length >= HEADER) {
      const size = kept.readUInt32BE(1)
      if (kept.length < HEADER + size) break
      const body = kept.subarray(HEADER, HEADER + size)
      yield JSON.parse((((kept[0] ?? 0) & COMPRESSED) === 0 ? body : gunzipSync(body)).toString())
      kept = kept.subarray(HEADER + size)
    }
  }
}

function envelope(flags: number, value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value))
  const head = Buffer.alloc(HEADER)
  head[0] = flags
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** A stream of answers; status 200 whatever comes. */
export class AnswerStream {
  readonly #response: ServerResponse
  #over = false

  constructor(response: ServerResponse) {
    this.#response = response
    response.writeHead(200, { 'content-type': 'application/connect+json' })
    response.flushHeaders()
  }

  /** Resolves when the client keeps up, or has gone. */
  async send(value: unknown): Promise<void> {
    if (this.#over || this.#response.destroyed) return
    if (this.#response.write(envelope(0, value))) return
    await new Promise<void>(resolve => {
      const done = (): void => {
        this.#response.off('drain', done).off('close', done)
        resolve()
      }
      this.#response.on('drain', done).on('close', done)
    })
  }

  end(error?: RpcError): void {
    if (this.#over) return
    this.#over = true
    this.#response.end(envelope(LAST, error === undefined ? {} : { error: { code: error.code, message: error.message } }))
  }
}
