import { execFile } from 'node:child_process'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { createConnection } from 'node:net'
import { promisify } from 'node:util'
import { Faults } from '../shared/faults.ts'
import { pass, relay } from '../shared/pass.ts'
import { bodyOf, type Request, type RunningStandIn, sendJson, serve } from '../shared/server.ts'
import type { OpenSandboxServer } from './server.ts'

/** Below it, a sandbox's own port is reached through the front: `/direct/HOST:PORT/rest`. */
const DIRECT = /^\/direct\/([^/]+)(\/.*)$/
const SANDBOXES = '/v1/sandboxes'
/** Below it, an account's mounts are set: `PUT` with a list. */
const ACCOUNTS = '/__accounts/'
const KEY = 'open-sandbox-api-key'
/** A key with this front is an account of its own, whose sandboxes no other sees. */
const ACCOUNT = 'account-'
/** Metadata, and so a label of the container, that names the account. */
const ACCOUNT_LABEL = 'atelier-stand-in.account'

/** What stands between the SDK and the server: everything passes, sandboxes' own ports too, and misbehaves as asked. */
export interface Front extends RunningStandIn {
  faults: Faults
  /** `HOST:PORT` for the SDK. */
  domain: string
}

/** Starts a front before a server. It keeps accounts apart, makes sandboxes twice and shows them late in lists when it is told to. */
export async function startFront(server: Pick<OpenSandboxServer, 'domain' | 'apiKey'>, port = 0): Promise<Front> {
  const faults = new Faults((status, message) => ({ code: `FAULT_${status}`, message }))
  const here: Here = { server, faults, domain: '', mounts: new Map() }
  const tell = async (method: string, path: string): Promise<void> => {
    const answer = await fetch(`http://${server.domain}${SANDBOXES}/${path}`, { method, headers: { [KEY]: server.apiKey } })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  const running = await serve(
    {
      faults,
      async answer(request, response) {
        const { method, path, message } = request
        if (method === 'PUT' && path.startsWith(ACCOUNTS)) return putAccount(here, request, response)
        if (method === 'GET' && path === SANDBOXES) return list(here, request, response)
        if (method === 'POST' && path === SANDBOXES) return create(here, request, response)
        if (/\/endpoints\/\d+$/.test(path)) return endpoint(here, request, response)
        if (accountOf(message) !== undefined) message.headers[KEY] = server.apiKey
        const { host, path: onward } = targetOf(message, server.domain)
        const [hostname, port] = host.split(':')
        const headers = { ...message.headers, host }
        await pass(httpRequest({ hostname, port, path: onward, method, headers, agent: false }), message, response)
      },
      async upgrade({ message }, socket, head) {
        const { host, path } = targetOf(message, server.domain)
        const [hostname, port] = host.split(':')
        relay(createConnection({ host: hostname, port: Number(port) }), message, { socket, head, host, path })
      },
      deeds: {
        pause: id => tell('POST', `${id}/pause`),
        resume: id => tell('POST', `${id}/resume`),
        expire: id => tell('DELETE', id),
        kill: async id => void (await promisify(execFile)('docker', ['kill', `sandbox-${id}`])),
      },
    },
    port,
  )
  here.domain = new URL(running.url).host
  return { ...running, faults, domain: here.domain }
}

/** A host folder that sandboxes of an account see, or those among them that have this metadata. */
interface AccountMount {
  source: string
  target: string
  readOnly?: boolean
  metadata?: Record<string, string>
}

interface Here {
  server: Pick<OpenSandboxServer, 'domain' | 'apiKey'>
  faults: Faults
  domain: string
  mounts: Map<string, AccountMount[]>
}

async function putAccount({ mounts }: Here, { path, message }: Request, response: ServerResponse): Promise<void> {
  mounts.set(path.slice(ACCOUNTS.length), JSON.parse(await bodyOf(message)) as AccountMount[])
  sendJson(response, 200)
}

/** The mounts as volumes in the server's words. */
function volumesFor({ mounts }: Here, account: string, metadata: Record<string, string>): object[] {
  const meant = (mounts.get(account) ?? []).filter(({ metadata: wanted = {} }) =>
    Object.entries(wanted).every(([key, value]) => metadata[key] === value),
  )
  return meant.map(({ source, target, readOnly = false }, index) => ({
    ...{ name: `account-${index}`, host: { path: source }, mountPath: target, readOnly },
  }))
}

/** Where a request goes on to; `host` with its port. */
function targetOf({ url = '/' }: IncomingMessage, server: string): { host: string; path: string } {
  const [, host, path] = DIRECT.exec(url) ?? []
  return host === undefined || path === undefined ? { host: server, path: url } : { host: decodeURIComponent(host), path }
}

function accountOf({ headers }: IncomingMessage): string | undefined {
  const key = String(headers[KEY] ?? '')
  return key.startsWith(ACCOUNT) ? key : undefined
}

async function ask(
  { server }: Here,
  { message, path, query }: Request,
  body?: string,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const key = accountOf(message) === undefined ? String(message.headers[KEY] ?? '') : server.apiKey
  const answer = await fetch(`http://${server.domain}${path}?${query}`, {
    method: message.method ?? 'GET',
    headers: { [KEY]: key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}

async function list(here: Here, request: Request, response: ServerResponse): Promise<void> {
  const account = accountOf(request.message)
  const wanted = request.query.get('metadata')
  const mine = account === undefined ? [] : [`${ACCOUNT_LABEL}=${account}`]
  const metadata = [...(wanted === null ? [] : [wanted]), ...mine].join('&')
  if (metadata !== '') request.query.set('metadata', metadata)
  const { status, json } = await ask(here, request)
  const { listLagMs = 0 } = here.faults.modes
  const items = json.items as { createdAt: string }[] | undefined
  const known = items?.filter(({ createdAt }) => listLagMs === 0 || Date.parse(createdAt) < Date.now() - listLagMs)
  sendJson(response, status, known === undefined ? json : { ...json, items: known })
}

async function create(here: Here, request: Request, response: ServerResponse): Promise<void> {
  const account = accountOf(request.message)
  const body = JSON.parse(await bodyOf(request.message)) as { metadata?: Record<string, string>; volumes?: object[] }
  if (account !== undefined) {
    body.metadata = { ...body.metadata, [ACCOUNT_LABEL]: account }
    body.volumes = [...(body.volumes ?? []), ...volumesFor(here, account, body.metadata)]
  }
  if (here.faults.modes.duplicateCreate) await ask(here, request, JSON.stringify(body))
  const { status, json } = await ask(here, request, JSON.stringify(body))
  sendJson(response, status, json)
}

/** Where a sandbox's port is reached: through the front, at the address at which the client sees it. */
async function endpoint(here: Here, request: Request, response: ServerResponse): Promise<void> {
  const { status, json } = await ask(here, request)
  if (typeof json.endpoint !== 'string') return sendJson(response, status, json)
  const proxied = json.endpoint.includes('/sandboxes/')
  const [host = '', ...path] = json.endpoint.split('/')
  const through = [
    request.message.headers.host ?? here.domain,
    ...(proxied ? [] : ['direct', encodeURIComponent(host)]),
    ...path,
  ].join('/')
  sendJson(response, status, { ...json, endpoint: through })
}
