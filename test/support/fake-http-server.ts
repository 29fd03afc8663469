// biome-ignore-all lint/suspicious/noExplicitAny: messages are read as they come
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How the server behaves; may be changed while it runs. */
export interface HttpBehaviour {
  /** `json`: answers as JSON; `stream`: as a stream; `cut`: a stream that breaks before the answer and can be resumed. */
  answers: 'json' | 'stream' | 'cut'
  /** Whether GET gives a stream of news; else 405. */
  news: boolean
  /** Every request but the SSE ones gets this status. */
  status?: number
  /** Where the HTTP+SSE server wants its messages. */
  endpoint?: string
}

/** A Streamable HTTP server, and at `/sse` an HTTP+SSE one, that note what they were sent; on an address of this host. */
export async function createFakeHttpServer(behaviour: HttpBehaviour = { answers: 'json', news: false }, address = 'localhost') {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: any }[] = []
  const news = new Set<ServerResponse>()
  const owed = new Map<string, string>()
  let session = 0
  let sse: ServerResponse | undefined
  let lastEvent = 0

  const event = (message: object, id = ++lastEvent) => `id: ${id}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`
  const answerOf = ({ id, method, params }: any) => {
    const result =
      method === 'initialize'
        ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'http', version: '1' } }
        : { content: [{ type: 'text', text: `${method} ${JSON.stringify(params ?? {})}` }] }
    return { jsonrpc: '2.0', id, result }
  }
  const reply = (body: any, response: ServerResponse) => {
    const answer = answerOf(body)
    const headers = body.method === 'initialize' ? { 'mcp-session-id': `session-${++session}` } : {}
    if (behaviour.answers === 'json') {
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
    const progressToken = body.params?._meta?.progressToken
    if (progressToken !== undefined)
      response.write(event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } }))
    if (behaviour.answers === 'stream' || body.method === 'initialize') {
      response.end(event(answer))
      return
    }
    response.write(`id: before-${body.id}\nretry: 10\ndata:\n\n`, () => response.destroy())
    owed.set(`before-${body.id}`, event(answer))
  }
  const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

  const serve = (request: IncomingMessage, response: ServerResponse, body: any) => {
    const { method = '', url = '' } = request
    const sessionId = request.headers['mcp-session-id']
    if (url.startsWith('/sse')) {
      if (method !== 'GET') return response.writeHead(405).end()
      sse = stream(response)
      return response.write(`event: endpoint\ndata: ${behaviour.endpoint ?? '/messages?id=1'}\n\n`)
    }
    if (url.startsWith('/messages')) {
      response.writeHead(202).end()
      if (body.id !== undefined) sse?.write(event(answerOf(body)))
      return
    }
    if (url.startsWith('/moved')) return response.writeHead(307, { location: '/mcp' }).end()
    if (behaviour.status !== undefined) return response.writeHead(behaviour.status).end('out of order')
    if (method === 'DELETE') return response.writeHead(200).end()
    if (method === 'GET') {
      const rest = owed.get(String(request.headers['last-event-id']))
      if (rest !== undefined) return stream(response).end(rest)
      if (!behaviour.news) return response.writeHead(405).end()
      news.add(stream(response))
      return response.write(': hello\n\n')
    }
    if (sessionId !== undefined && sessionId !== `session-${session}`) return response.writeHead(404).end('no such session')
    if (body.id === undefined || body.method === undefined) return response.writeHead(202).end()
    return reply(body, response)
  }

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = text === '' ? undefined : JSON.parse(text)
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    serve(request, response, body)
  })
  await new Promise<void>(resolve => server.listen(0, address === 'localhost' ? '127.0.0.1' : address, resolve))
  const origin = `http://${address}:${(server.address() as AddressInfo).port}`
  return {
    ...{ origin, requests, behaviour },
    get listeners() {
      return news.size
    },
    tell(message: object) {
      for (const response of news) response.write(event({ jsonrpc: '2.0', ...message }))
    },
    /** Ends the streams of news. */
    cut() {
      for (const response of news) response.destroy()
      news.clear()
    },
    /** Forgets every session. */
    forget: () => void session++,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}
