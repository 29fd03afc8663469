import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { WorkspaceError } from '../../lib/errors.ts'

const MAX_REDIRECTS = 5

/** Where a server is, and what each request to it carries. */
export interface ServerAddress {
  url: URL
  headers: Record<string, string>
}

export interface RequestOptions {
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

/**
 * HTTP requests to one server, over connections that are kept. They have no time limit of their own, as long calls and silent
 * streams need none: whoever calls sets one by `signal`. (`fetch` would end both after five minutes.)
 */
export class HttpClient {
  readonly #http = new HttpAgent({ keepAlive: true })
  readonly #https = new HttpsAgent({ keepAlive: true })

  /** The answer with its body still to be read. Redirects that keep the method are followed; headers stay on their origin. */
  async request(url: URL, options: RequestOptions): Promise<IncomingMessage> {
    let target = url
    let { headers } = options
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const answer = await this.#once(target, { ...options, headers })
      const next = redirectOf(answer, target, options.method)
      if (next === undefined) return answer
      answer.resume()
      if (next.origin !== target.origin) headers = withoutCredentials(headers)
      target = next
    }
    throw new WorkspaceError('unavailable', `${url.origin} redirects in circles`)
  }

  /** Lets go of idle connections. */
  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  async #once(url: URL, options: RequestOptions): Promise<IncomingMessage> {
    try {
      return await this.#send(url, options)
    } catch (error) {
      // The server may close an idle connection at the moment that it is used again: it has seen nothing of the request then.
      if (!(error instanceof StaleConnection)) throw error
      return this.#send(url, options)
    }
  }

  #send(url: URL, { method, headers, body, signal }: RequestOptions): Promise<IncomingMessage> {
    const secure = url.protocol === 'https:'
    const agent = secure ? this.#https : this.#http
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const options = { method, headers: { ...headers, ...length }, agent, signal, autoSelectFamily: true }
      const request: ClientRequest = (secure ? httpsRequest : httpRequest)(url, options, resolve)
      request.on('error', (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted
        reject(stale ? new StaleConnection() : new WorkspaceError('unavailable', networkReason(error, url), { cause: error }))
      })
      request.end(body)
    })
  }
}

class StaleConnection extends Error {}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL, method: string): URL | undefined {
  const kept = statusCode === 307 || statusCode === 308 || (method === 'GET' && (statusCode === 301 || statusCode === 302))
  return kept && headers.location !== undefined ? new URL(headers.location, from) : undefined
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  const kept = ['accept', 'content-type', 'mcp-protocol-version', 'last-event-id']
  return Object.fromEntries(Object.entries(headers).filter(([name]) => kept.includes(name.toLowerCase())))
}

/** Each address that was tried has an error of its own; the code says enough. */
function networkReason(error: NodeJS.ErrnoException, url: URL): string {
  const [first] = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error]
  return `${url.origin} can't be reached (${first?.code ?? error.code ?? error.message})`
}

/** A body as text. Throws `too_large` beyond `maxBytes`. */
export async function readBody(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) {
      answer.destroy()
      throw new WorkspaceError('too_large', `The server answered with more than ${maxBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What an answer that is no success says, for people. */
export async function failureOf(answer: IncomingMessage): Promise<string> {
  const body = await readBody(answer, 64 * 1024).catch(() => '')
  const text = body.replace(/\s+/g, ' ').trim().slice(0, 300)
  return `it answered HTTP ${answer.statusCode}${text === '' ? '' : `: ${text}`}`
}
