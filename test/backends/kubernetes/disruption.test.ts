import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, failure, MISSING, onCluster, sh, type World } from './support.ts'

/** Folder of the programs that started the cluster. */
const TOOLS = process.env.ATELIER_CLUSTER_TOOLS
/** Set by who has the cluster for himself meanwhile. */
const ALLOWED = process.env.ATELIER_TEST_DISTURB_CLUSTER !== undefined && TOOLS !== undefined
const HOME = process.env.ATELIER_CLUSTER ?? '/var/tmp/atelier-cluster'
const WHY = MISSING || (ALLOWED ? '' : 'ATELIER_TEST_DISTURB_CLUSTER is not set: no cluster here may be disturbed')

const restart = (name: string) => execFileSync(join(TOOLS ?? '', 'up'), ['--restart', name], { stdio: 'ignore' })
const pidOf = (name: string) => Number(readFileSync(join(HOME, 'pid', name), 'utf8'))

describe.skipIf(WHY !== '')(
  WHY === '' ? 'kubernetes: a cluster that falters' : onCluster(`kubernetes: a cluster that falters (skipped: ${WHY})`),
  () => {
    let world: World

    beforeAll(() => {
      world = createWorld()
    })
    afterEach(() => world.clear())
    afterAll(() => world?.remove())

    test.each(['apiserver', 'kubelet', 'containerd', 'etcd'])(
      'a restart of the %s in mid-command loses nothing and repeats nothing',
      async name => {
        const workspace = await world.open('ws-cut', { nodeLostMs: 60_000 })
        const command = 'for i in $(seq 120); do echo line $i; echo $i >> log; sleep 0.1; done'
        const running = sh(workspace, command, { timeoutMs: 90_000 })
        await expect.poll(() => sh(workspace, 'wc -l < log', { session: 'other' }), { timeout: 30_000 }).not.toBe('0')
        restart(name)
        const lines = (await running).split('\n')
        expect(lines).toEqual(Array.from({ length: 120 }, (_, at) => `line ${at + 1}`))
        expect(await sh(workspace, 'wc -l < log')).toBe('120')
        expect(workspace.takeNotices()).toEqual([])
        await workspace.close()
      },
    )

    test('a workspace is made while the API server is away for a moment', async () => {
      // It has answered once: the cluster is known to be there.
      const backend = world.backend()
      expect(await backend.find('ws-away')).toBeUndefined()
      const opening = backend.provision(world.spec('ws-away'))
      restart('apiserver')
      expect((await opening).info.state).toBe('running')
    })

    test('a node that does not answer is told as such; a Pod of it is only replaced when that is asked for', async () => {
      const workspace = await world.open('ws-node', { nodeLostMs: 3_000 })
      await sh(workspace, 'echo kept > file')
      process.kill(pidOf('kubelet'), 'SIGSTOP')
      try {
        const closing = await failure(workspace.close())
        expect([closing.code, closing.message]).toEqual([
          'node_lost',
          expect.stringMatching(/its node localhost does not confirm/),
        ])
        expect(closing.hint).toContain('forceLostNode')
        const opening = await failure(world.open('ws-node', { nodeLostMs: 1_000 }))
        expect(opening.code).toBe('node_lost')
        expect(world.pod('ws-node').metadata?.deletionTimestamp).toBeDefined()
        const forced = await failure(world.open('ws-node', { nodeLostMs: 1_000, forceLostNode: true, startTimeoutMs: 5_000 }))
        // The old one is gone; there is no other node to take the new one.
        expect(['timeout', 'unavailable']).toContain(forced.code)
      } finally {
        process.kill(pidOf('kubelet'), 'SIGCONT')
      }
      expect(await sh(await world.open('ws-node'), 'cat file')).toBe('kept')
    })
  },
)
