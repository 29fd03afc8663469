import { once } from 'node:events'
import { expect, vi } from 'vitest'
import { killOne } from '../../support/processes.ts'
import { buildHost, type Host, type HostTask } from '../host.ts'
import { sh } from '../support.ts'
import { type FaultPlace, type FaultWorld, openIn } from './place.ts'

const TEN = Array.from({ length: 10 }, (_, at) => at)

/** Hosts of one backend in processes of their own. */
export class Hosts {
  readonly #start: (task: HostTask) => Host
  readonly #place: FaultPlace
  readonly #world: FaultWorld

  private constructor(place: FaultPlace, world: FaultWorld, start: (task: HostTask) => Host) {
    this.#place = place
    this.#world = world
    this.#start = start
  }

  static async in(place: FaultPlace, world: FaultWorld): Promise<Hosts> {
    return new Hosts(place, world, await buildHost(world.base))
  }

  #host(id: string): Host {
    const { settings, script } = this.#world
    return this.#start({ backend: this.#place.name, settings, id, script, work: 'note' })
  }

  /** Ten processes work in one environment, nothing else is left, and all that they wrote is there. */
  async ten(id: string): Promise<void> {
    const world = this.#world
    const hosts = TEN.map(() => this.#host(id))
    const said = await Promise.all(hosts.map(host => host.said))
    expect(said).toEqual(said.map(() => said[0]))
    expect(said[0]).not.toBe('')
    expect(await world.environments()).toHaveLength(1)
    const workspace = await openIn(world, id)
    expect(workspace.info.incarnation).toBe(said[0])
    const wrote = (await sh(workspace, 'cat hosts')).split('\n').sort()
    expect(wrote).toEqual(hosts.map(({ pid }) => String(pid)).sort())
    await workspace.detach()
  }

  /** Kills a host in a step of making a workspace; what the request did it does all the same. */
  async kill(id: string, step: { match: string; nth?: number }): Promise<void> {
    const { faults } = this.#world
    faults.add({ match: step.match, times: step.nth ?? 1, latencyMs: 700 })
    const doomed = this.#host(id)
    await vi.waitFor(() => expect(faults.list()).toEqual([]), { timeout: 60_000, interval: 20 })
    expect(doomed.exitCode).toBeNull()
    killOne(doomed.pid)
    await once(doomed, 'exit')
  }
}

/** Ten hosts that come at once to what was closed share one, with its files. */
export async function tenAsleep(world: FaultWorld, id: string): Promise<void> {
  const first = await openIn(world, id)
  await sh(first, 'echo kept > file')
  await first.close()
  const all = await Promise.all(TEN.map(() => openIn(world, id)))
  expect(new Set(all.map(({ info }) => info.incarnation)).size).toBe(1)
  expect(await Promise.all(all.map((each, at) => sh(each, `echo ${at} > own${at}; cat file`)))).toEqual(TEN.map(() => 'kept'))
  expect((await sh(all[0] as (typeof all)[0], 'cat own*')).split('\n').sort()).toEqual(TEN.map(String))
  expect(await world.environments()).toHaveLength(1)
  await Promise.all(all.map(each => each.detach()))
}
