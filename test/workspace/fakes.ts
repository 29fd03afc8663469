import type { Backend, Environment, EnvironmentInfo, EnvironmentSpec } from '../../src/backends/backend.ts'
import type { OpenResult } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import type { CallOptions, GatewayClient, LinkEvents, LinkState } from '../../src/link/gateway-client.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import { openWorkspace, type WorkspaceOptions } from '../../src/workspace/workspace.ts'

export const SPEC: EnvironmentSpec = { id: 'id-1', name: 'demo', owner: { user: 'u', agent: '', session: '' } }

/** Answers to gateway methods; a function is called with the parameters. */
export type Answers = Record<string, unknown>

export interface Call {
  method: string
  params: Record<string, unknown>
  options: CallOptions
}

/** A gateway client that answers from a table and notes what it was asked. */
export class FakeClient implements GatewayClient {
  state: LinkState = 'open'
  closedWith: string[] = []
  /** Hosts that are there at the goodbye. */
  others = 0
  readonly calls: Call[] = []
  readonly answers: Answers
  readonly events: LinkEvents
  instance: string

  constructor(instance: string, answers: Answers, events: LinkEvents = {}) {
    this.instance = instance
    this.answers = answers
    this.events = events
    if (instance !== '') queueMicrotask(() => events.reached?.(instance))
  }

  /** Rejects where the instance is `''` (a link that never came about), waits for ever where it is `silent`. */
  async opened(): Promise<OpenResult> {
    if (this.instance === '') throw lost()
    if (this.instance === 'silent') await new Promise(() => {})
    return { instance: this.instance } as OpenResult
  }

  async call(method: string, params: unknown, options: CallOptions = {}): Promise<never> {
    this.calls.push({ method, params: params as Record<string, unknown>, options })
    const answer = this.answers[method]
    if (answer instanceof Error) throw answer
    return (typeof answer === 'function' ? await answer(params, options) : (answer ?? {})) as never
  }

  async close(mode: 'end' | 'detach'): Promise<number> {
    this.closedWith.push(mode)
    this.state = 'closed'
    return this.others
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close('detach')
  }

  /** The link is given up; what is called from now on fails. */
  die(): void {
    this.state = 'closed'
    for (const method of ['info', 'command.run', 'job.list']) this.answers[method] = lost()
  }

  asked(method: string): Record<string, unknown>[] {
    return this.calls.filter(call => call.method === method).map(call => call.params)
  }
}

export function lost(): WorkspaceError {
  return new WorkspaceError('environment_lost', 'The environment can not be reached.')
}

export class FakeEnvironment implements Environment {
  info: EnvironmentInfo
  readonly log: string[] = []
  suspendError: Error | undefined

  constructor(info: Partial<EnvironmentInfo> = {}) {
    this.info = {
      id: 'id-1',
      backend: 'docker',
      name: 'demo',
      owner: SPEC.owner,
      state: 'running',
      createdAt: '2026-01-01T00:00:00Z',
      workdir: '/work',
      root: '/root-of-ours',
      madeByAtelier: true,
      details: {},
      ...info,
    }
  }

  openStream(): Promise<never> {
    throw new Error('not used')
  }
  exec(): Promise<never> {
    throw new Error('not used')
  }
  async upload(): Promise<void> {}
  async keepAlive(): Promise<void> {
    this.log.push('keepAlive')
  }
  async suspend(): Promise<void> {
    this.log.push('suspend')
    if (this.suspendError !== undefined) throw this.suspendError
  }
  async destroy(): Promise<void> {
    this.log.push('destroy')
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.log.push('dispose')
  }
}

/** Opens a workspace over fakes; each provision takes the next environment and each dial the next instance. */
export async function openFake(
  setup: {
    environments?: FakeEnvironment[]
    instances?: string[]
    answers?: () => Answers
    options?: Partial<WorkspaceOptions>
  } = {},
) {
  const environments = setup.environments ?? [new FakeEnvironment()]
  const instances = setup.instances ?? ['one']
  const clients: FakeClient[] = []
  const lostSentences: string[] = []
  let provisioned = 0
  const backend = {
    name: 'docker',
    async provision() {
      await new Promise(resolve => setImmediate(resolve))
      provisioned += 1
      return environments[Math.min(provisioned, environments.length) - 1]!
    },
  } as unknown as Backend
  const connect: WorkspaceOptions['connect'] = (_environment, options) => {
    const instance = instances[Math.min(clients.length, instances.length - 1)]!
    const client = new FakeClient(
      instance,
      { info: { links: 1 }, 'job.list': { jobs: [] }, ...setup.answers?.() },
      options.events,
    )
    clients.push(client)
    return client
  }
  const workspace = await openWorkspace(backend, SPEC, {
    limits: DEFAULT_LIMITS,
    env: { A: '1' },
    owner: 'me',
    confine: 'none',
    goodbye: 'detach',
    logger: silentLogger,
    onLost: sentence => lostSentences.push(sentence),
    connect,
    ...setup.options,
  })
  return { workspace, environments, clients, client: clients[0]!, lostSentences, provisions: () => provisioned }
}
