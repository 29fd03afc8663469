import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, IMAGE, MISSING, onCluster, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onCluster('kubernetes: several hosts, and hosts that die'), () => {
  let world: World
  let program: string

  beforeAll(async () => {
    world = createWorld()
    program = join(world.base, 'host.mjs')
    await build({
      entryPoints: ['test/backends/kubernetes/host-main.ts'],
      ...{
        outfile: program,
        bundle: true,
        platform: 'node',
        format: 'esm',
        external: ['@kubernetes/client-node'],
        logLevel: 'error',
      },
      banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
    })
    symlinkSync(join(process.cwd(), 'node_modules'), join(world.base, 'node_modules'))
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  const host = (step: string, id: string): ChildProcess => {
    const { space, script, dataDir } = world
    return spawn(process.execPath, [program, step, space.kubeconfig, script, IMAGE, id, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  test.each(['before the Pod', 'while it starts', 'before the gateway', 'within the gateway', 'before the link'])(
    'a host that is killed %s stands in nobody’s way, and leaves nothing that the next one does not find',
    async step => {
      const [code, signal] = await once(host(step, 'ws-killed'), 'exit')
      expect([code, signal]).toEqual([null, 'SIGKILL'])
      const begun = Date.now()
      const workspace = await world.open('ws-killed')
      expect(await sh(workspace, 'echo fine > file; cat file')).toBe('fine')
      expect(Date.now() - begun).toBeLessThan(60_000)
      expect(world.left()).toHaveLength(2)
      await workspace.destroy()
      expect(world.left()).toEqual([])
    },
  )

  test('a host killed in mid-command: the next one finds the Pod, its jobs and their output', async () => {
    const first = host('', 'ws-host')
    const [line] = await once(first.stdout as NonNullable<ChildProcess['stdout']>, 'data')
    const { job } = JSON.parse(String(line)) as { job: string }
    const before = world.pod('ws-host').metadata?.uid
    first.kill('SIGKILL')
    await once(first, 'exit')

    const workspace = await world.open('ws-host')
    expect(workspace.info.incarnation).toBe(before)
    await expect.poll(async () => (await workspace.shell.jobs()).length, { timeout: 20_000 }).toBe(2)
    const command = (await workspace.shell.jobs()).find(each => each.id !== job)
    const read = async (id: string) => {
      const { job: info, output } = await workspace.shell.readJob({ id, session: 's', offset: 0, waitMs: 1_000 })
      return `${info.status} ${output.head}${output.tail}`
    }
    await expect.poll(() => read(command?.id ?? ''), { timeout: 30_000 }).toMatch(/^exited begun\s+done/)
    await expect.poll(() => read(job), { timeout: 30_000 }).toMatch(/^exited tick 1[\s\S]*tick 8/)
  })

  test('ten hosts that acquire one workspace at once share one Pod, and lose nothing', async () => {
    const hosts = await Promise.all(Array.from({ length: 10 }, () => world.open('ws-ten')))
    const uids = new Set(hosts.map(({ info }) => info.incarnation))
    expect(uids.size).toBe(1)
    await Promise.all(hosts.map((each, at) => sh(each, `echo ${at} > file${at}; echo done`)))
    expect((await sh(hosts[0] as (typeof hosts)[0], 'cat file*')).split('\n').sort()).toEqual([...'0123456789'])
    expect(world.left()).toHaveLength(2)
    for (const each of hosts.slice(1)) await each.detach()
    await hosts[0]?.close()
    expect(world.left()).toHaveLength(1)
  })

  test('ten hosts that find their Pod at its end make one new one', async () => {
    const first = await world.open('ws-again')
    await sh(first, 'echo kept > file')
    await first.close()
    const hosts = await Promise.all(Array.from({ length: 10 }, () => world.open('ws-again')))
    expect(new Set(hosts.map(({ info }) => info.incarnation)).size).toBe(1)
    expect(await Promise.all(hosts.map(each => sh(each, 'cat file')))).toEqual(Array(10).fill('kept'))
    for (const each of hosts) await each.detach()
  })

  test('ten hosts whose Pod can’t start all say why, and leave nothing', async () => {
    const opening = Array.from({ length: 10 }, () =>
      world.open('ws-none', { nodeSelector: { nowhere: 'x' }, startTimeoutMs: 2_000 }),
    )
    const ends = await Promise.allSettled(opening)
    expect(new Set(ends.map(end => (end.status === 'rejected' ? end.reason.code : 'opened')))).toEqual(new Set(['unavailable']))
    expect(world.left()).toEqual([])
  })
})
