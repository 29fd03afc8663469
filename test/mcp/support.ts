import { type Logger, silentLogger } from '../../src/lib/log.ts'
import type { Manager } from '../../src/manager/manager.ts'
import type { JsonRpcAnswer, JsonRpcMessage, JsonRpcNotification, RequestId } from '../../src/mcp/message.ts'
import type { Upstream } from '../../src/mcp/relay.ts'
import { type ClientSession, createSession, type SessionOptions } from '../../src/mcp/session.ts'
import type { SessionParts, SessionState } from '../../src/mcp/session-context.ts'
import type { ToolAnswer, ToolContext } from '../../src/tools/tool.ts'
import type { WorkspaceSummary } from '../../src/tools/workspace-directory.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import type { Watcher, Watches } from '../../src/workspace/watches.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

export interface Sent {
  message: JsonRpcMessage
  related: RequestId | undefined
}

export type FakeRun = (name: string, args: Record<string, unknown>, context: ToolContext) => Promise<ToolAnswer>

export interface FakeClient {
  session: ClientSession
  sent: Sent[]
  send(message: unknown): void
  request(method: string, params?: Record<string, unknown>, id?: RequestId): Promise<JsonRpcAnswer>
  notifications(method: string): JsonRpcNotification[]
  answer(id: RequestId | null): Promise<JsonRpcAnswer>
}

export interface ClientOptions {
  run?: FakeRun
  manager?: Partial<Manager>
  upstreams?: Upstream[]
  options?: Partial<SessionOptions>
  initialize?: boolean
  summaries?: WorkspaceSummary[]
  /** Told of the state that each directory is made for. */
  directory?(state: SessionState): void
  logger?: Logger
}

export function fakeSummary(id: string, current: boolean): WorkspaceSummary {
  const place = { workdir: `/w/${id}`, root: `/r/${id}`, createdAt: '2026-01-01T00:00:00Z', madeByAtelier: true }
  return { id, name: `name-${id}`, backend: 'local', state: 'running', current, ...place, details: {} }
}

/** Nested servers of a workspace that has none. */
const NO_SERVERS = {
  list: async () => [],
  attach: () => ({
    servers: () => [],
    ready: async () => {},
    refresh: async () => [],
    ensure: async () => {},
    send: () => {},
    close: () => {},
  }),
}

/** Watches that begin, with what they watch; a test makes the changes. */
export function fakeWatches(notices: string[] = []) {
  const started = new Map<string, Watcher>()
  const start: Watches['start'] = async (path, watcher) => {
    started.set(path, watcher)
    return { notices, end: () => void started.delete(path) }
  }
  const startOnJobs: Watches['startOnJobs'] = watcher => {
    started.set('jobs', { noticed: () => {}, ...watcher })
    return { notices: [], end: () => void started.delete('jobs') }
  }
  return { started, watches: { start, startOnJobs, renew() {} } satisfies Watches }
}

export function fakeWorkspace(fields: Partial<Workspace> & { id: string }): Workspace {
  const { id } = fields
  const info = { id, backend: 'local', workdir: `/w/${id}`, root: `/r/${id}` }
  return {
    info,
    takeNotices: () => [],
    forgetSession: async () => {},
    nested: NO_SERVERS,
    watches: fakeWatches().watches,
    ...fields,
  } as unknown as Workspace
}

/** A session over fakes, with what it sent and a way to await answers. */
export function openClient(given: ClientOptions = {}): FakeClient {
  const sent: Sent[] = []
  const waiting = new Set<() => void>()
  const send: SessionOptions['send'] = (message, related) => {
    sent.push({ message, related })
    for (const check of [...waiting]) check()
  }
  const services = { manager: (given.manager ?? {}) as Manager, limits: DEFAULT_LIMITS, logger: given.logger ?? silentLogger }
  const directory = {
    list: async () => given.summaries ?? [],
    status: async (ref: string) => ({ summary: fakeSummary(ref, true) }),
  }
  const parts: SessionParts = {
    tools: {
      list: async () => [{ name: 'Echo' }],
      run: given.run ?? (async (name, args) => ({ text: `${name} ${JSON.stringify(args)}` })),
    },
    directory: (_scope, state) => {
      given.directory?.(state)
      return directory as never
    },
    instructions: info => `work in ${info.workdir}`,
  }
  const scope = { user: 'u', agent: '', session: '' }
  const session = createSession(services, { scope, send, ...given.options }, { parts, upstreams: given.upstreams ?? [] })
  let nextId = 1000
  const client: FakeClient = {
    session,
    sent,
    send: message => session.receive(message as JsonRpcMessage),
    request(method, params, id = nextId++) {
      client.send(params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params })
      return client.answer(id)
    },
    notifications: method =>
      sent
        .map(({ message }) => message)
        .filter(message => 'method' in message && message.method === method) as JsonRpcNotification[],
    answer: id =>
      new Promise(resolve => {
        const check = (): void => {
          const found = sent.find(({ message }) => !('method' in message) && message.id === id)
          if (found === undefined) return
          waiting.delete(check)
          resolve(found.message as JsonRpcAnswer)
        }
        waiting.add(check)
        check()
      }),
  }
  if (given.initialize !== false)
    client.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params: { protocolVersion: '2025-11-25' } })
  return client
}
