import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { type Request, sendJson } from '../shared/server.ts'
import { failUnary, RpcError } from './connect-protocol.ts'
import { answerFiles, answerFilesystem } from './files.ts'
import { answerProcess } from './process-service.ts'
import { Processes } from './processes.ts'
import type { SandboxData } from './sandbox.ts'

const USERS = new Set(['user', 'root'])

/** The program inside sandboxes, and the router before it: what the SDK asks with the header `E2b-Sandbox-Id`. */
export class Envd {
  readonly #sandboxes: Sandboxes<SandboxData>
  readonly #processes: Processes
  readonly #open = new Map<string, Set<ServerResponse>>()

  constructor(sandboxes: Sandboxes<SandboxData>) {
    this.#sandboxes = sandboxes
    this.#processes = new Processes(sandboxes)
  }

  async answer(id: string, request: Request, response: ServerResponse): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    if (sandbox?.data.state !== 'running') {
      return sendJson(response, 502, { sandboxId: id, message: 'The sandbox was not found', code: 502 })
    }
    if (request.path === '/health') return sendJson(response, 204)
    if (request.message.headers['x-access-token'] !== sandbox.data.token) {
      return sendJson(response, 401, { code: 'unauthenticated', message: 'invalid access token' })
    }
    this.#track(id, response)
    try {
      await this.#serve(id, request, response)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      failUnary(response, error)
    }
  }

  async #serve(id: string, request: Request, response: ServerResponse): Promise<void> {
    const [, service = '', name = ''] = request.path.split('/')
    if (service === 'process.Process') {
      const call = { id, user: userOf(request.message), request, response }
      return answerProcess({ sandboxes: this.#sandboxes, processes: this.#processes }, name, call)
    }
    if (service === 'filesystem.Filesystem') return answerFilesystem(this.#sandboxes, name, { id, request, response })
    if (service === 'files') return answerFiles(this.#sandboxes, { id, request, response })
    if (service === 'init' && request.method === 'POST') return sendJson(response, 204)
    sendJson(response, 404, { code: 404, message: `no route ${request.path}` })
  }

  /** Breaks its connections; what runs is as it is. */
  interrupt(id: string): void {
    for (const response of this.#open.get(id) ?? []) response.socket?.resetAndDestroy()
    if (this.#sandboxes.get(id) === undefined) this.#processes.forget(id)
  }

  #track(id: string, response: ServerResponse): void {
    const open = this.#open.get(id) ?? new Set()
    this.#open.set(id, open.add(response))
    response.once('close', () => open.delete(response))
  }
}

function userOf({ headers }: IncomingMessage): string {
  const encoded = /^Basic (.*)$/.exec(headers.authorization ?? '')?.[1]
  const name = encoded === undefined ? 'user' : Buffer.from(encoded, 'base64').toString().replace(/:$/, '')
  if (!USERS.has(name)) throw new RpcError('unauthenticated', `invalid username: '${name}'`)
  return name
}
