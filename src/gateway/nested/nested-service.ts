import { randomBytes } from 'node:crypto'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { withoutSecrets } from '../commands/child-env.ts'
import { MarkedProcesses } from '../commands/tree-end.ts'
import type { CallContext, Handlers, LinkContext, LinkPort } from '../dispatch.ts'
import type { NestedDeclaration, NestedStartParams, NestedStartResult } from '../protocol-nested.ts'
import { fillDeclaration } from './fill-declaration.ts'
import { Instance } from './instance.ts'
import { isSameScope, whoMakesRoom } from './make-room.ts'
import { transportsOf } from './open-transports.ts'
import { endOrphans, orphanMark } from './orphans.ts'

export interface NestedServiceOptions {
  workdir: string
  link(id: string): LinkPort | undefined
  log: Logger
}

/** The nested servers of a gateway. */
export interface NestedService {
  readonly handlers: Pick<Handlers, 'nested.start' | 'nested.send' | 'nested.stop' | 'nested.list'>
  /** Requests of hosts that wait for an answer. */
  readonly inFlight: number
  /** Servers that run. */
  readonly count: number
  /** Some link is gone for good: what it has open is cancelled. */
  leaveGone(): void
  endAll(reason: string): Promise<void>
}

/** Makes the service; nothing is started before the first call. */
export function createNestedService(options: NestedServiceOptions): NestedService {
  return new Service(options)
}

class Service implements NestedService {
  readonly #options: NestedServiceOptions
  readonly #instances = new Map<string, Instance>()
  readonly #byKey = new Map<string, Instance>()
  readonly #ending = new Set<Promise<void>>()
  readonly #marked = new MarkedProcesses()
  #orphans: Promise<void> | undefined

  constructor(options: NestedServiceOptions) {
    this.#options = options
  }

  readonly handlers: NestedService['handlers'] = {
    'nested.start': (params, context) => this.#start(params, context),
    'nested.send': async ({ server, message }, { link }) => {
      this.#get(server).relay.send(link.id, message)
      return {}
    },
    'nested.stop': async ({ server, reason = 'it was stopped' }) => {
      const instance = this.#instances.get(server)
      await instance?.stop(reason)
      return { stopped: instance !== undefined }
    },
    'nested.list': async () => ({ servers: [...this.#instances.values()].map(instance => instance.info()) }),
  }

  get inFlight(): number {
    let sum = 0
    for (const instance of this.#instances.values()) sum += instance.inFlight
    return sum
  }

  get count(): number {
    return this.#instances.size
  }

  leaveGone(): void {
    for (const instance of this.#instances.values()) instance.relay.leaveGone()
  }

  async endAll(reason: string): Promise<void> {
    await Promise.all([...this.#instances.values()].map(instance => instance.stop(reason)))
    await Promise.all(this.#ending)
  }

  async #start(params: NestedStartParams, context: CallContext): Promise<NestedStartResult> {
    this.#orphans ??= endOrphans(this.#marked).catch(error => this.#options.log.warn({ error: String(error) }, 'orphans'))
    await this.#orphans
    context.signal.throwIfAborted()
    const key = JSON.stringify([params.scope.agent, params.scope.session, params.name, params.hash])
    const known = this.#byKey.get(key)
    const instance = known ?? this.#create(key, params, context)
    instance.relay.join(context.link.id)
    const outcome = await this.#wait(instance, context)
    if ('failure' in outcome) return { server: '', failure: outcome.failure }
    instance.relay.claim(context.link.id)
    const pid = instance.pid === undefined ? {} : { pid: instance.pid }
    return { server: instance.id, result: outcome.result, fresh: known === undefined, ...pid }
  }

  #create(key: string, params: NestedStartParams, { link }: CallContext): Instance {
    const declaration = filled(params, link)
    this.#replace(params, link.id)
    this.#makeRoom(params)
    const { workdir, log } = this.#options
    const mark = orphanMark()
    const instance = new Instance({
      id: randomBytes(6).toString('hex'),
      params,
      transports: transportsOf(declaration, { link, workdir, mark, marked: this.#marked }),
      link: id => this.#options.link(id),
      onEnd: ended => {
        this.#instances.delete(ended.id)
        if (this.#byKey.get(key) === ended) this.#byKey.delete(key)
        const cleaning = ended.stop('it ended').finally(() => this.#ending.delete(cleaning))
        this.#ending.add(cleaning)
        log.info({ name: params.name, server: ended.id }, 'nested server ended')
      },
    })
    this.#instances.set(instance.id, instance)
    this.#byKey.set(key, instance)
    log.info({ name: params.name, server: instance.id }, 'nested server starts')
    return instance
  }

  /** A server that was declared anew leaves its older self behind, unless somebody still works with that or is about to. */
  #replace({ scope, name }: NestedStartParams, link: string): void {
    for (const instance of this.#instances.values()) {
      const { params, relay, inFlight } = instance
      const isFree = inFlight === 0 && !relay.isClaimed(link)
      if (isFree && params.name === name && isSameScope(params.scope, scope)) void instance.stop('it was declared anew')
    }
  }

  /** Nothing happens between the choice and the end: what a host has sent counts, and what it sends now finds no server. */
  #makeRoom({ name, scope, maxLive }: NestedStartParams): void {
    if (maxLive === undefined) return
    for (const instance of whoMakesRoom([...this.#instances.values()], scope, maxLive))
      void instance.stop(`it made room for the server ${JSON.stringify(name)} of another agent or session`)
    const live = this.#instances.size
    if (live >= maxLive) this.#options.log.warn({ live, maxLive }, 'more nested servers run than are meant to: all are in use')
  }

  /** Waits for a start. When the last host that wants it gives up, the start ends. */
  async #wait(instance: Instance, { link, signal, onDetach }: CallContext): ReturnType<() => Instance['ready']> {
    const left = new Promise<never>((_resolve, reject) => {
      const give = (): void => {
        instance.relay.leave(link.id)
        if (instance.state === 'starting' && instance.relay.links === 0) void instance.stop('nobody waits for it')
        reject(new WorkspaceError('cancelled', `The start of ${JSON.stringify(instance.params.name)} was cancelled`))
      }
      signal.addEventListener('abort', give, { once: true })
      onDetach(give)
      const off = (): void => signal.removeEventListener('abort', give)
      instance.ready.then(off, off)
    })
    left.catch(() => {})
    return Promise.race([instance.ready, left])
  }

  #get(server: string): Instance {
    const instance = this.#instances.get(server)
    if (instance !== undefined) return instance
    throw new WorkspaceError('not_found', `No nested server ${server} is running.`, { hint: 'Start it again.' })
  }
}

function filled({ declaration, variables }: NestedStartParams, link: LinkContext): NestedDeclaration {
  return variables === undefined ? declaration : fillDeclaration(declaration, { ...withoutSecrets(link.env), ...variables })
}
