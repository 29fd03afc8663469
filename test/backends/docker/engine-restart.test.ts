import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { noOwnEngine, type OwnEngine, startOwnEngine, titled } from './own-engine.ts'
import { createWorld, failure, sh, type World, type WorldOptions } from './support.ts'
import { TINY_IMAGE } from './tiny-image.ts'

const WHY = noOwnEngine()
const RESTARTS = [
  ['by its service manager', 'stop'],
  ['after it was killed', 'kill'],
] as const

/** A workspace with a file in and one outside its directory, and a variable. */
async function opened(world: World, id: string, options: WorldOptions = {}): Promise<Workspace> {
  const workspace = await world.open(id, options)
  await sh(workspace, 'mkdir sub && cd sub && export KEPT=1; echo file > file; touch /outside')
  return workspace
}

/** Starts a command, and waits until it runs. */
async function inFlight<T>(workspace: Workspace, run: () => Promise<T>): Promise<{ end: Promise<T> }> {
  const end = run()
  end.catch(() => {})
  await expect.poll(() => sh(workspace, 'cat /workspace/begun', { session: 'other' }), { timeout: 20_000 }).toBe('begun')
  return { end }
}

const COUNT = 'echo begun > /workspace/begun; for i in $(seq 30); do echo "line $i"; sleep 0.1; done'
const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n')

/** An engine with `args` and a world on it, for the tests of one suite. */
function onOwnEngine(args: readonly string[]): { engine: OwnEngine; world: World } {
  const own = {} as { engine: OwnEngine; world: World }
  beforeAll(async () => {
    own.engine = await startOwnEngine(args)
    own.world = await createWorld({ env: { DOCKER_HOST: own.engine.host }, image: TINY_IMAGE })
  })
  afterEach(() => own.world?.clear())
  afterAll(async () => {
    await own.world?.remove()
    await own.engine?.[Symbol.asyncDispose]()
  })
  return own
}

describe.skipIf(WHY !== '')(titled('docker: an engine that is started again, whose containers end with it', WHY), () => {
  const own = onOwnEngine([])

  test.each(RESTARTS)('%s: the call in flight fails, the next one goes on in its container', async (_, end) => {
    const workspace = await opened(own.world, `ws-lost-${end}`)
    const before = workspace.info.incarnation
    const command = 'echo run >> /workspace/runs; echo begun > /workspace/begun; sleep 300'
    const running = await inFlight(workspace, () => failure(workspace.shell.run({ session: 's', command })))
    await own.engine[end]()
    await own.engine.start()
    const error = await running.end
    expect([error.code, error.message]).toEqual([
      'environment_lost',
      expect.stringMatching(/it was (stopped|killed)|can't be reached/),
    ])
    expect(error.hint).toContain('Call again')
    expect(await sh(workspace, 'cat sub/file runs; ls /outside; echo "[$KEPT]"; ps | grep "[s]leep 300"')).toBe(
      'file\nrun\n/outside\n[]',
    )
    expect(workspace.info.incarnation).toBe(before)
    expect(workspace.takeNotices()).toEqual([expect.stringMatching(/was restarted.*running commands.*Files are as they were/)])
    await sh(workspace, 'true')
    expect(workspace.takeNotices()).toEqual([])
    await workspace.destroy()
  })

  test('for good: the call in flight fails, and the next error says how to reach one', async () => {
    const workspace = await opened(own.world, 'ws-gone', { limits: { reconnectMs: 5_000 } })
    const running = await inFlight(workspace, () =>
      failure(workspace.shell.run({ session: 's', command: `${COUNT}; sleep 300` })),
    )
    await own.engine.kill()
    try {
      const lost = await running.end
      expect([lost.code, lost.message]).toEqual(['environment_lost', expect.stringContaining('docker.sock')])
      const error = await failure(sh(workspace, 'true'))
      expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining('docker.sock')])
      expect(error.hint).toMatch(/dockerd[\s\S]*DOCKER_HOST/)
    } finally {
      await own.engine.start()
    }
    expect(await sh(workspace, 'cat /workspace/sub/file')).toBe('file')
  })
})

describe.skipIf(WHY !== '')(titled('docker: an engine that is started again, with --live-restore', WHY), () => {
  const own = onOwnEngine(['--live-restore'])

  test.each(RESTARTS)('%s: calls and jobs go on, and their output is whole', async (_, end) => {
    const workspace = await opened(own.world, `ws-live-${end}`)
    const job = (await workspace.shell.run({ session: 's', command: COUNT, background: true })).job ?? ''
    const running = await inFlight(workspace, () => sh(workspace, COUNT))
    await own.engine[end]()
    await own.engine.start()
    expect(await running.end).toBe(LINES)
    const { job: info, output } = await workspace.shell.readJob({ id: job, session: 's', offset: 0, waitMs: 10_000 })
    expect([info.status, `${output.head}${output.tail}`.trim()]).toEqual(['exited', LINES])
    expect(await sh(workspace, 'cat file; ls /outside; echo "[$KEPT]"')).toBe('file\n/outside\n[1]')
    expect(workspace.takeNotices()).toEqual([])
    await workspace.destroy()
  })
})
