import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { WebSocketServer } from 'ws'
import { createCommandRoutes } from './commands.ts'
import { createFileRoutes } from './files.ts'
import { answer, Refusal, type Route } from './http.ts'
import { createPtyRoutes } from './pty.ts'

/** The program that an OpenSandbox server puts into each sandbox, as far as a client can tell from outside. */
const PORT = Number(process.env.EXECD_PORT ?? 44772)
const TOKEN = process.env.EXECD_ACCESS_TOKEN
/** A sandbox's ports are reached through it, its own too. */
const PREFIX = `/proxy/${PORT}`

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
const { routes: ptyRoutes, upgrade } = createPtyRoutes()
const routes: readonly Route[] = [
  { method: 'GET', path: /^\/ping$/, run: async call => answer(call, 200, {}) },
  ...createCommandRoutes(),
  ...createFileRoutes(),
  ...ptyRoutes,
]

const urlOf = (request: IncomingMessage): URL => {
  const url = new URL(request.url ?? '/', 'http://sandbox')
  if (url.pathname.startsWith(`${PREFIX}/`)) url.pathname = url.pathname.slice(PREFIX.length)
  return url
}
const allowed = (request: IncomingMessage): boolean => TOKEN === undefined || request.headers['x-execd-access-token'] === TOKEN

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = urlOf(request)
  const call = { request, response, url, parts: [] as string[] }
  try {
    if (!allowed(request)) throw new Refusal(401, 'UNAUTHORIZED', 'Unauthorized: invalid or missing header X-EXECD-ACCESS-TOKEN')
    for (const { method, path, run } of routes) {
      const match = request.method === method ? path.exec(url.pathname) : null
      if (match === null) continue
      return await run({ ...call, parts: match.slice(1).map(decodeURIComponent) })
    }
    throw new Refusal(404, 'NOT_FOUND', `no route ${request.method} ${url.pathname}`)
  } catch (error) {
    const { status = 500, code = 'RUNTIME_ERROR', message } = error as Refusal
    if (response.headersSent) response.destroy()
    else answer(call, status, { code, message })
  }
}

const server = createServer((request, response) => void handle(request, response))
server.on('upgrade', (request, socket, head) => {
  const url = urlOf(request)
  const refuse = (status: number, text: string, body: object): void => {
    const json = JSON.stringify(body)
    socket.end(`HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`)
  }
  if (!allowed(request)) return refuse(401, 'Unauthorized', { code: 'UNAUTHORIZED' })
  upgrade(url, refuse, taken => sockets.handleUpgrade(request, socket, head, taken))
})
server.keepAliveTimeout = 60_000
server.listen(PORT, '0.0.0.0')
