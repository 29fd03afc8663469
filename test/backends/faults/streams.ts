import { buffer } from 'node:stream/consumers'
import { expect, vi } from 'vitest'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import type { FaultModes, FaultRule } from '../../stand-ins/shared/faults.ts'
import { sh } from '../support.ts'
import type { Scenario } from './calls.ts'
import type { FaultName } from './matrix.ts'
import { type FaultWorld, type OpenOptions, openIn } from './place.ts'

/** In place of the minutes of real services. */
export const IDLE_MS = 2_000
const LINES = 60
const FEW = 10

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A workspace whose link has met a rule and lives with it. */
async function linked(world: FaultWorld, id: string, { rule, ...more }: { rule: FaultRule } & OpenOptions): Promise<Workspace> {
  const first = await openIn(world, id)
  await sh(first, 'echo kept > file')
  await first.detach()
  world.faults.add({ match: world.requests.stream, times: 99, ...rule })
  const workspace = await openIn(world, id, more)
  expect(await sh(workspace, 'cat file')).toBe('kept')
  return workspace
}

/** What a command prints while its stream is cut arrives whole and once, and the command ran once. */
async function loseNothing({ faults }: FaultWorld, workspace: Workspace): Promise<void> {
  const before = faults.struck
  let text = ''
  const command = `echo once >> count; for i in $(seq ${LINES}); do echo line $i; sleep 0.04; done; seq 1 3000 | tail -n 1`
  const onOutput = (part: string): void => {
    text += part
  }
  const running = workspace.shell.run({ session: 's', command }, { onOutput })
  await vi.waitFor(() => expect(text).toContain(`line ${FEW}\n`), { timeout: 20_000, interval: 10 })
  faults.strike()
  const { output } = await running
  const lines = `${output.head}${output.tail}`.trim().split('\n')
  expect(lines).toEqual([...Array.from({ length: LINES }, (_, at) => `line ${at + 1}`), '3000'])
  expect(await sh(workspace, 'cat count')).toBe('once')
  expect(faults.struck).toBeGreaterThan(before)
  expect(await sh(workspace, 'seq 1 6000 | sha256sum')).toBe(await sh(workspace, 'seq 1 6000 > f; sha256sum < f'))
}

/** Faults of what carries a link. */
export const STREAMS = {
  async 'lost-tail'(world, id) {
    const environment = await world.backend().provision(world.spec(id))
    world.faults.modes = { loseTailMs: 40 } as FaultModes
    for (const code of [0, 3, 0]) {
      const stream = await environment.openStream(['sh', '-c', `head -c 100000 /dev/zero; printf tail; exit ${code}`])
      const all = await buffer(stream)
      expect([all.length, all.subarray(-4).toString()]).toEqual([100_004, 'tail'])
    }
  },
  async 'stream-reset'(world, id) {
    const workspace = await linked(world, id, { rule: { onStrike: 'reset' } })
    world.faults.clear()
    await loseNothing(world, workspace)
    await workspace.detach()
  },
  async drops(world, id) {
    const workspace = await linked(world, id, { rule: { onStrike: 'reset' } })
    world.faults.clear()
    world.faults.add({ match: world.requests.stream, reset: true, times: 3 })
    await loseNothing(world, workspace)
    expect(world.faults.list()).toEqual([])
    await workspace.detach()
  },
  async 'stream-silent'(world, id) {
    const heartbeat = { intervalMs: 500, deadMs: 1_500 }
    const workspace = await linked(world, id, { rule: { onStrike: 'mute' }, heartbeat })
    world.faults.clear()
    const before = world.faults.struck
    world.faults.strike()
    expect(world.faults.struck).toBeGreaterThan(before)
    expect(await sh(workspace, 'echo after >> file; cat file')).toBe('kept\nafter')
    await workspace.detach()
  },
  async 'idle-cut'(world, id) {
    const workspace = await linked(world, id, { rule: { idleCutMs: IDLE_MS } })
    const before = world.faults.struck
    await pause(1.5 * IDLE_MS)
    expect(await sh(workspace, 'echo one >> log; cat log')).toBe('one')
    expect(await sh(workspace, `sleep ${(2 * IDLE_MS) / 1_000}; echo two >> log; cat log`)).toBe('one\ntwo')
    expect(world.faults.struck).toBeGreaterThan(before + 1)
    await workspace.detach()
  },
} satisfies Partial<Record<FaultName, Scenario>>

/** Something that is done behind our back while a command runs. */
const behind =
  (deed: keyof FaultWorld['deeds']): Scenario =>
  async (world, id) => {
    const workspace = await openIn(world, id)
    try {
      await sh(workspace, 'echo kept > file')
      const running = sh(workspace, 'touch begun; sleep 300')
      running.catch(() => {})
      await vi.waitFor(async () => expect(await sh(workspace, 'cat begun && echo yes', { session: 'other' })).toBe('yes'), 30_000)
      await world.deeds[deed]?.(workspace)
      const told = await running.then(
        () => undefined,
        error => ({ error }),
      )
      const files = await sh(workspace, 'cat file 2>/dev/null || echo gone')
      const notices = workspace.takeNotices().join()
      if (files === 'gone') expect(notices).toContain('has been made again')
      expect(await world.environments()).toHaveLength(1)
      if (told !== undefined) throw Object.assign(told.error as object, { files })
    } finally {
      await workspace.detach()
    }
  }

/** What others do to an environment. */
export const DEEDS = {
  paused: behind('paused'),
  expired: behind('expired'),
  removed: behind('removed'),
} satisfies Partial<Record<FaultName, Scenario>>

/** Nothing that runs or lies inside has the backend's key. */
export const LEAKS = {
  async 'leaked-key'(world, id) {
    const workspace = await openIn(world, id)
    const key = world.secret ?? ''
    expect(key.length).toBeGreaterThan(6)
    // In two parts, and from a file, so that the search does not find itself.
    const at = Math.floor(key.length / 2)
    const search = `k=${key.slice(0, at)}; k="$k"${key.slice(at)}; printf %s "$k" > probe; grep -lf probe probe
      env | grep -cf probe; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | grep -acf probe
      grep -rlf probe . /tmp /opt /etc "$HOME" 2>/dev/null | grep -v '/probe$'; rm probe`
    expect((await sh(workspace, search)).split('\n')).toEqual(['probe', '0', '0'])
    await workspace.detach()
  },
} satisfies Partial<Record<FaultName, Scenario>>
