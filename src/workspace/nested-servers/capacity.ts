import type { NestedInfo, NestedScope, NestedStartParams, NestedStartResult } from '../../gateway/protocol.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import { KeyedLock } from '../../lib/keyed-lock.ts'
import type { Logger } from '../../lib/log.ts'
import type { GatewayCalls } from '../environment-link.ts'

export interface CapacityOptions {
  gateway: GatewayCalls
  /** Servers that may run at once in the workspace. */
  maxLive: number
  /** Whether somebody of this host works with an instance. */
  isBusy(server: string): boolean
  logger: Logger
}

type Admitted = Pick<NestedStartParams, 'scope' | 'name' | 'hash'>

/** Whether a running server is one of a scope. */
export function isOf({ agent, session }: NestedScope, { scope }: NestedInfo): boolean {
  return scope.agent === agent && scope.session === session
}

/** Keeps the number of running servers under a bound: the gateway counts, the least recently used other scope makes room. */
export class Capacity {
  readonly #options: CapacityOptions
  readonly #lock = new KeyedLock()

  constructor(options: CapacityOptions) {
    this.#options = options
  }

  /** Starts one more server when there is room, or room was made. Where all others are busy it is started all the same. */
  async admit(params: Admitted, start: () => Promise<NestedStartResult>): Promise<NestedStartResult> {
    let started: Promise<NestedStartResult> | undefined
    await this.#lock.run('', async () => {
      await this.#makeRoom(params)
      // It counts from here on; how long it takes is no matter of the next one.
      started = start()
      started.catch(() => {})
    })
    return started as unknown as Promise<NestedStartResult>
  }

  async #makeRoom({ scope, name, hash }: Admitted): Promise<void> {
    const { gateway, maxLive, logger } = this.#options
    const { servers } = await gateway.call('nested.list', {})
    // One that runs already, for an earlier host or another one, takes no room.
    if (servers.some(info => isOf(scope, info) && info.name === name && info.hash === hash)) return
    let live = servers.length
    for (const { server, name } of this.#dispensable(servers, scope)) {
      if (live < maxLive) return
      logger.info({ server: name }, 'a nested server of another scope makes room')
      await gateway
        .call('nested.stop', { server })
        .catch(error => logger.warn({ reason: toWorkspaceError(error).message }, 'not stopped'))
      live -= 1
    }
    if (live >= maxLive) logger.warn({ live, maxLive }, 'more nested servers run than are meant to: all are in use')
  }

  /** Servers of other scopes in the order in which they may go: those of the scope that was used least recently first. */
  #dispensable(servers: readonly NestedInfo[], scope: NestedScope): NestedInfo[] {
    const scopes = groupByScope(servers.filter(info => !isOf(scope, info)))
    return [...scopes.values()]
      .filter(all => all.every(({ inFlight, server }) => inFlight === 0 && !this.#options.isBusy(server)))
      .sort((a, b) => idle(b) - idle(a))
      .flatMap(all => all.toSorted((a, b) => b.idleMs - a.idleMs))
  }
}

const idle = (servers: readonly NestedInfo[]): number => Math.min(...servers.map(({ idleMs }) => idleMs))

function groupByScope(servers: readonly NestedInfo[]): Map<string, NestedInfo[]> {
  const groups = new Map<string, NestedInfo[]>()
  for (const info of servers) {
    const key = JSON.stringify([info.scope.agent, info.scope.session])
    groups.set(key, [...(groups.get(key) ?? []), info])
  }
  return groups
}
