import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Call {
  request: IncomingMessage
  response: ServerResponse
  url: URL
  /** What the path's groups matched. */
  parts: string[]
}

export interface Route {
  method: string
  path: RegExp
  run(call: Call): Promise<void>
}

/** An answer with another status than success, in execd's form. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Answers with JSON. */
export function answer({ response }: Pick<Call, 'response'>, status: number, body?: unknown): void {
  const json = body === undefined ? '' : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json' }).end(json)
}

/** The whole body. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** The body as JSON; an empty one is `{}`. */
export async function jsonOf<T>(request: IncomingMessage): Promise<T> {
  const body = await bodyOf(request)
  try {
    return JSON.parse(body.toString() || '{}') as T
  } catch (error) {
    throw new Refusal(
      400,
      'INVALID_REQUEST_BODY',
      `error parsing request, MAYBE invalid body format. ${(error as Error).message}`,
    )
  }
}
