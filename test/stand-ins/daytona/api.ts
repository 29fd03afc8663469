import type { ServerResponse } from 'node:http'
import type { Faults } from '../shared/faults.ts'
import { bodyOf, type Request, sendJson } from '../shared/server.ts'
import type { CreateBody, Life } from './life.ts'
import { dtoOf, Refusal, type Sandbox } from './sandbox.ts'

const PAGE = 100

export interface Api {
  life: Life
  faults: Faults
  /** Address of this service. */
  url(): string
}

/** Snapshots that are there beside those that the API does not know. */
const SNAPSHOTS: Readonly<Record<string, string>> = {
  default: 'active',
  atelier: 'active',
  broken: 'error',
  sleeping: 'inactive',
}

/** The control plane, below `/api`. */
export async function answerApi(api: Api, account: string, request: Request, response: ServerResponse): Promise<void> {
  const [, , kind, ref, verb, value] = request.path.split('/').map(decodeURIComponent)
  if (kind === 'snapshots') return answerSnapshots(ref, request, response)
  if (kind === 'config') return sendJson(response, 200, { version: 'stand-in', proxyToolboxUrl: `${api.url()}/toolbox` })
  if (kind !== 'sandbox') throw new Refusal(404, `Cannot ${request.method} ${request.path}`)
  if (ref === undefined) {
    if (request.method === 'GET') return sendJson(response, 200, list(api, account, request.query))
    const body = JSON.parse(await bodyOf(request.message)) as CreateBody
    if (body.snapshot !== undefined && SNAPSHOTS[body.snapshot] !== 'active')
      throw new Refusal(400, `Snapshot ${body.snapshot} not found or not active`)
    return sendJson(response, 200, dtoOf(api.life.create(account, body), api.url()))
  }
  const sandbox = api.life.get(account, ref)
  if (verb === undefined) return answerSandbox(api, sandbox, request, response)
  await act(api, sandbox, { verb, value, request })
  const now = api.life.get(account, sandbox.id)
  if (verb === 'labels') sendJson(response, 200, { labels: now.data.labels })
  else if (verb === 'toolbox-proxy-url') sendJson(response, 200, { url: `${api.url()}/toolbox` })
  else sendJson(response, 200, dtoOf(now, api.url()))
}

function answerSandbox({ life, url }: Api, sandbox: Sandbox, { method }: Request, response: ServerResponse): void {
  if (method === 'DELETE') life.delete(sandbox)
  else if (method !== 'GET') throw new Refusal(405, 'Method not allowed')
  sendJson(response, 200, dtoOf(life.all(sandbox.data.account).find(({ id }) => id === sandbox.id) ?? sandbox, url()))
}

interface Action {
  verb: string
  value: string | undefined
  request: Request
}

async function act({ life }: Api, sandbox: Sandbox, { verb, value, request }: Action): Promise<void> {
  const { id } = sandbox
  const minutes = Number(value)
  const deeds: Record<string, () => unknown> = {
    start: () => life.start(sandbox),
    stop: () => life.stop(sandbox),
    archive: () => life.archive(sandbox),
    recover: () => life.recover(sandbox),
    labels: async () =>
      life.update(id, { labels: (JSON.parse(await bodyOf(request.message)) as { labels: Record<string, string> }).labels }),
    'last-activity': () => life.touch(id),
    autostop: () => life.update(id, { autoStopInterval: minutes }),
    autoarchive: () => life.update(id, { autoArchiveInterval: minutes }),
    autodelete: () => life.update(id, { autoDeleteInterval: minutes }),
    ttl: () =>
      life.update(id, {
        autoDestroyAt: minutes === 0 ? (undefined as never) : new Date(Date.now() + minutes * 60_000).toISOString(),
      }),
    'toolbox-proxy-url': () => {},
  }
  const deed = deeds[verb]
  if (deed === undefined) throw new Refusal(404, `Cannot ${request.method} ${request.path}`)
  await deed()
}

function list({ life, faults, url }: Api, account: string, query: URLSearchParams): object {
  const labels = Object.entries(JSON.parse(query.get('labels') ?? '{}') as Record<string, string>)
  const states = query.getAll('states')
  const seenUntil = Date.now() - (faults.modes.listLagMs ?? 0)
  const found = life.all(account).filter(({ createdAt, data }) => {
    if (Date.parse(createdAt) > seenUntil) return false
    if (states.length > 0 && !states.includes(data.state)) return false
    return labels.every(([key, value]) => data.labels[key] === value) && data.name.startsWith(query.get('name') ?? '')
  })
  const from = Number(query.get('cursor') ?? 0)
  const to = from + Number(query.get('limit') ?? PAGE)
  const items = found.slice(from, to).map(sandbox => dtoOf(sandbox, url(), { listed: true }))
  return { items, nextCursor: to < found.length ? String(to) : null }
}

function answerSnapshots(ref: string | undefined, { method }: Request, response: ServerResponse): void {
  if (method !== 'GET') throw new Refusal(405, 'Method not allowed')
  const dto = (name: string) => ({ id: `snapshot-${name}`, name, imageName: name, state: SNAPSHOTS[name], general: true })
  if (ref !== undefined && SNAPSHOTS[ref] === undefined) throw new Refusal(404, `Snapshot with ID or name ${ref} not found`)
  const items = Object.keys(SNAPSHOTS).map(dto)
  sendJson(response, 200, ref === undefined ? { items, total: items.length, page: 1, totalPages: 1 } : dto(ref))
}
