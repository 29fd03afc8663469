import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FaultModes, FaultRule, Faults } from './faults.ts'

export interface Request {
  method: string
  /** Without the query. */
  path: string
  query: URLSearchParams
  message: IncomingMessage
}

export interface Service {
  /** Answers a request. What it throws becomes status 500 with the message. */
  answer(request: Request, response: ServerResponse): Promise<void>
  upgrade?(request: Request, socket: Duplex, head: Buffer): Promise<void>
  /** What is done behind the client's back: `expire`, `pause`, …, each to one sandbox. */
  deeds: Record<string, (id: string) => Promise<void>>
  faults: Faults
}

export interface RunningStandIn extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, or `unix://PATH`. */
  url: string
}

/** The whole body of a request, as text. */
export async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export function sendJson(response: ServerResponse, status: number, value?: unknown): void {
  response.writeHead(status, value === undefined ? {} : { 'content-type': 'application/json' })
  response.end(value === undefined ? undefined : JSON.stringify(value))
}

/** Serves a stand-in on a port of loopback (0: any) or a unix socket, with its control endpoints below `/__faults`. */
export async function serve(service: Service, at: number | string = 0): Promise<RunningStandIn> {
  const server = createServer((message, response) => void respond(service, message, response))
  // As long as a service lets an upload or a stream take.
  server.requestTimeout = 0
  // Clients keep their connections for longer than Node's five seconds.
  server.keepAliveTimeout = 640_000
  // The server itself lets go of these, and of their end.
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (message, socket, head) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    void upgrade(service, message, { socket, head })
  })
  const place = typeof at === 'string' ? { path: at } : { port: at, host: '127.0.0.1' }
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(place, resolve))
  return {
    url: typeof at === 'string' ? `unix://${at}` : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function parse(message: IncomingMessage): Request {
  const { pathname, searchParams } = new URL(message.url ?? '/', 'http://stand-in')
  return { method: message.method ?? 'GET', path: pathname, query: searchParams, message }
}

async function respond(service: Service, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = parse(message)
  // A client that leaves in the midst of an answer is none of our concern.
  response.on('error', () => {})
  try {
    if (request.path.startsWith('/__faults')) return await control(service, request, response)
    if (await service.faults.meet(message, response)) await service.answer(request, response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    else sendJson(response, 500, { code: 500, message: (error as Error).message })
  }
}

async function upgrade(
  service: Service,
  message: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
): Promise<void> {
  socket.on('error', () => socket.destroy())
  try {
    if (!(await service.faults.meetUpgrade(message, socket))) return
    if (service.upgrade === undefined) socket.destroy()
    else await service.upgrade(parse(message), socket, head)
  } catch {
    socket.destroy()
  }
}

/**
 * `POST /__faults` with a rule, `POST /__faults/strike`, `PUT /__faults/modes` with modes, `DELETE /__faults` for none, `GET /__faults`,
 * `POST /__faults/<deed>/<sandbox>`.
 */
async function control({ faults, deeds }: Service, { method, path, message }: Request, response: ServerResponse): Promise<void> {
  const [, , name, id] = path.split('/')
  const deed = name === undefined ? undefined : deeds[name]
  if (method === 'DELETE') faults.clear()
  else if (method === 'POST' && name === 'strike' && id === undefined) faults.strike()
  else if (method === 'PUT' && name === 'modes') faults.modes = JSON.parse(await bodyOf(message)) as FaultModes
  else if (method === 'POST' && deed !== undefined && id !== undefined) await deed(decodeURIComponent(id))
  else if (method === 'POST' && name === undefined) faults.add(JSON.parse(await bodyOf(message)) as FaultRule)
  else if (method !== 'GET') return sendJson(response, 404, { message: `deeds: ${Object.keys(deeds).join(', ')}` })
  sendJson(response, 200, { rules: faults.list(), modes: faults.modes })
}
