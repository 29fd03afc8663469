import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { EnvironmentInfo } from '../../../src/backends/backend.ts'
import { toWorkspaceError } from '../../../src/lib/errors.ts'
import { OWNER, sh } from '../support.ts'
import { CALLS, type Scenario } from './calls.ts'
import { Hosts, tenAsleep } from './hosts.ts'
import { FAULTS, type FaultName, type Outcome } from './matrix.ts'
import { type FaultPlace, type FaultWorld, openIn } from './place.ts'
import { DEEDS, LEAKS, STREAMS } from './streams.ts'

const SOON = { timeout: 30_000, interval: 200 }
const NOT_A_SCENARIO = ['ten-hosts', 'killed-host', 'abandoned'] as const
const SCENARIOS: Record<Exclude<FaultName, (typeof NOT_A_SCENARIO)[number]>, Scenario> = {
  ...{ ...CALLS, ...STREAMS, ...DEEDS, ...LEAKS },
  'ten-hosts-asleep': tenAsleep,
}

/** Every fault of the matrix on one backend. */
export function runFaults(place: FaultPlace): void {
  const title = `${place.name}: faults${place.missing === '' ? '' : ` (skipped: ${place.missing})`}`
  describe.skipIf(place.missing !== '')(title, () => {
    let world: FaultWorld
    let hosts: Hosts

    beforeAll(async () => {
      vi.setConfig({ testTimeout: 240_000 })
      world = await place.start()
      hosts = await Hosts.in(place, world)
    }, 240_000)
    afterEach(async () => {
      world.faults.clear()
      await world.clear()
    }, 120_000)
    afterAll(() => world?.remove(), 120_000)

    for (const [name, scenario] of Object.entries(SCENARIOS) as [keyof typeof SCENARIOS, Scenario][]) {
      const outcome: Outcome = FAULTS[name][place.name]
      if (outcome.kind === 'absent') test(name, context => context.skip(outcome.because))
      else test(name, () => verify(world, `ws-${name}`, { outcome, scenario }))
    }

    test('ten-hosts', async () => {
      await hosts.ten('ws-ten')
      await takeAway(world, 'ws-ten')
    })

    test('abandoned', async () => {
      await hosts.kill('ws-abandoned', { match: world.requests.inside })
      world.faults.clear()
      expect(await world.environments()).toHaveLength(1)
      const backend = world.backend()
      const known = []
      for await (const info of backend.list({ user: OWNER.user })) known.push(info)
      expect(known).toMatchObject([{ id: 'ws-abandoned' }])
      if (backend.remove === undefined) return takeAway(world, 'ws-abandoned')
      await backend.remove(known[0] as EnvironmentInfo)
      await vi.waitFor(async () => expect(await world.left()).toEqual([]), SOON)
    })

    test('killed-host', async () => {
      for (const [step, request] of Object.entries(world.steps)) {
        await hosts.kill('ws-killed', request).catch(error => {
          throw new Error(`a host that ${step}: ${error.message}`, { cause: error })
        })
        const workspace = await openIn(world, 'ws-killed')
        expect(await sh(workspace, 'echo fine'), step).toBe('fine')
        expect(await world.environments(), step).toHaveLength(1)
        await workspace.destroy()
        await vi.waitFor(async () => expect(await world.left(), step).toEqual([]), SOON)
      }
    }, 400_000)
  })
}

async function verify(world: FaultWorld, id: string, { outcome, scenario }: { outcome: Outcome; scenario: Scenario }) {
  const thrown = await scenario(world, id).then(
    () => undefined,
    error => ({ error }),
  )
  if (outcome.kind !== 'fails') {
    if (thrown !== undefined) throw thrown.error
    // What misbehaves only as often as it was told has done so.
    expect(world.faults.list().filter(({ times = 1 }) => times < 9)).toEqual([])
    world.faults.clear()
    return takeAway(world, id)
  }
  if (thrown === undefined) throw new Error(`It went well, in place of ${outcome.code}.`)
  const error = toWorkspaceError(thrown.error)
  expect([error.code, error.message]).toEqual([outcome.code, expect.stringMatching(/.{10}/)])
  if (error.code !== 'cancelled') expect(error.hint).toMatch(outcome.code === 'limit_exceeded' ? /wait 1 h/ : /.{10}/)
  if (world.secret !== undefined) expect(error.text).not.toContain(world.secret)
  if (outcome.files !== undefined) {
    expect((thrown.error as { files?: string }).files).toBe(outcome.files)
    world.faults.clear()
    return takeAway(world, id)
  }
  // What a request still makes that nobody waits for is removed as soon as it is there.
  await new Promise(resolve => setTimeout(resolve, error.code === 'cancelled' ? 1_000 : 0))
  world.faults.clear()
  await vi.waitFor(async () => expect(await world.left()).toEqual([]), SOON)
}

/** There is one; it is found, and goes with all that it had. */
async function takeAway(world: FaultWorld, id: string): Promise<void> {
  const environment = await world.backend().provision(world.spec(id))
  expect(await world.backend().find(id)).toMatchObject({ id, incarnation: environment.info.incarnation })
  await environment.destroy()
  await vi.waitFor(async () => expect(await world.left()).toEqual([]), SOON)
}
