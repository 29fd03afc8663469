import type { ServerResponse } from 'node:http'
import type { Faults } from '../shared/faults.ts'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, type Request, sendJson } from '../shared/server.ts'
import type { CreateBody, Life, Sandbox } from './life.ts'
import { ENVD_VERSION, type SandboxData } from './sandbox.ts'

export interface Api {
  sandboxes: Sandboxes<SandboxData>
  life: Life
  faults: Faults
}

/** A key that the service does not know. */
const WRONG_KEY = 'e2b_wrong'
const PAGE = 100

type Handler = (api: Api, call: Call) => Promise<void>

interface Call {
  account: string
  id: string
  request: Request
  response: ServerResponse
}

const fail = (response: ServerResponse, code: number, message: string): void => sendJson(response, code, { code, message })

/** The control plane: what the SDK asks of `api.e2b.app`. */
export async function answerApi(api: Api, request: Request, response: ServerResponse): Promise<void> {
  const account = request.message.headers['x-api-key']
  if (typeof account !== 'string' || account === WRONG_KEY)
    return fail(response, 401, 'cannot get the team for the given API key')
  const alias = ALIAS.exec(`${request.method} ${request.path}`)?.[1]
  if (alias !== undefined) return answerAlias(api, decodeURIComponent(alias), response)
  const [route, id] = routeOf(request)
  const handler = ROUTES[route]
  if (handler === undefined) return fail(response, 404, `no route ${route}`)
  if (id !== '' && !isThere(api.sandboxes.get(id), account)) return fail(response, 404, `sandbox "${id}" doesn't exist`)
  await handler(api, { account, id, request, response })
}

/** Whether there is a template of that name. */
const ALIAS = /^GET \/templates\/aliases\/([^/]+)$/

function answerAlias({ life }: Api, alias: string, response: ServerResponse): void {
  if (life.knows(alias)) sendJson(response, 200, { templateID: alias, public: true })
  else fail(response, 404, `template alias "${alias}" not found`)
}

function isThere(sandbox: Sandbox | undefined, account: string): boolean {
  return sandbox?.data.account === account && ['running', 'paused'].includes(sandbox.data.state)
}

function routeOf({ method, path }: Request): [string, string] {
  const id = /^(?:\/v2)?\/sandboxes\/([^/]+)/.exec(path)?.[1] ?? ''
  return [`${method} ${id === '' ? path : path.replace(id, ':id')}`, decodeURIComponent(id)]
}

const ROUTES: Readonly<Record<string, Handler>> = {
  'POST /v2/sandboxes': create,
  'GET /v2/sandboxes': list,
  'POST /v2/sandboxes/:id/connect': connect,
  'GET /sandboxes/:id': async ({ sandboxes }, { id, response }) =>
    sendJson(response, 200, detailOf(sandboxes.get(id) as Sandbox)),
  'DELETE /sandboxes/:id': async ({ life }, { id, response }) => {
    await life.kill(id)
    sendJson(response, 204)
  },
  'POST /sandboxes/:id/timeout': async ({ sandboxes, life }, { id, request, response }) => {
    const { timeout } = await read<{ timeout: number }>(request)
    if (sandboxes.get(id)?.data.state !== 'running') return fail(response, 404, `sandbox "${id}" is not running`)
    life.setTimeout(id, timeout)
    sendJson(response, 204)
  },
  'POST /sandboxes/:id/pause': async ({ life }, { id, request, response }) => {
    const body = await read<{ memory?: boolean }>(request)
    if (await life.pause(id, body)) sendJson(response, 204)
    else fail(response, 409, `sandbox "${id}" is already paused`)
  },
  'GET /sandboxes/:id/metrics': async (_, { response }) => sendJson(response, 200, []),
}

async function read<T>({ message }: Request): Promise<T> {
  const text = await bodyOf(message)
  return JSON.parse(text === '' ? '{}' : text) as T
}

async function create({ life, faults }: Api, { account, request, response }: Call): Promise<void> {
  const body = await read<CreateBody>(request)
  if (!life.knows(body.templateID)) return fail(response, 404, `template '${body.templateID}' not found`)
  if (faults.modes.duplicateCreate) await life.create(account, body)
  sendJson(response, 201, accessTo(await life.create(account, body)))
}

async function connect({ sandboxes, life }: Api, { id, request, response }: Call): Promise<void> {
  const paused = sandboxes.get(id)?.data.state === 'paused'
  await life.connect(id, await read(request))
  const sandbox = sandboxes.get(id)
  if (sandbox === undefined) return fail(response, 404, `sandbox "${id}" doesn't exist`)
  sendJson(response, paused ? 201 : 200, accessTo(sandbox))
}

async function list({ sandboxes, faults }: Api, { account, request, response }: Call): Promise<void> {
  const { query } = request
  const wanted = metadataOf(query.get('metadata'))
  const states = query.get('state')?.split(',') ?? ['running', 'paused']
  const seenBefore = Date.now() - (faults.modes.listLagMs ?? 0)
  const found = sandboxes
    .all()
    .filter(
      ({ createdAt, data }) =>
        data.account === account &&
        states.includes(data.state) &&
        (query.get('template') === null || data.template === query.get('template')) &&
        (faults.modes.listLagMs === undefined || Date.parse(createdAt) < seenBefore) &&
        wanted.every(([key, value]) => data.metadata[key] === value),
    )
  if (query.get('order') !== 'asc') found.reverse()
  const [from, limit] = [Number(query.get('nextToken') ?? 0), Number(query.get('limit') ?? PAGE)]
  if (found.length > from + limit) response.setHeader('x-next-token', String(from + limit))
  sendJson(response, 200, found.slice(from, from + limit).map(detailOf))
}

/** Key and value are encoded once more inside the query. */
function metadataOf(query: string | null): [string, string][] {
  return [...new URLSearchParams(query ?? '')].map(([key, value]) => [decodeURIComponent(key), decodeURIComponent(value)])
}

function accessTo({ id, data }: Sandbox): object {
  return {
    sandboxID: id,
    templateID: data.template,
    clientID: 'stand-in',
    envdVersion: ENVD_VERSION,
    envdAccessToken: data.token,
  }
}

function detailOf({ id, data }: Sandbox): object {
  const { template, startedAt, endAt, state, metadata, autoPause, asked } = data
  return {
    ...{ sandboxID: id, templateID: template, clientID: 'stand-in', alias: template, startedAt, endAt, state, metadata },
    ...{ cpuCount: 2, memoryMB: 512, diskSizeMB: 1024, envdVersion: ENVD_VERSION, network: asked.network },
    lifecycle: { onTimeout: autoPause ? 'pause' : 'kill', autoResume: false },
  }
}
