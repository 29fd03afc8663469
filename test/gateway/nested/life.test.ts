import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { isAlive, processesNaming, until } from '../../support/processes.ts'
import { createNestedBench, startOf } from './harness.ts'

describe('the life of nested servers', () => {
  const benches: Awaited<ReturnType<typeof createNestedBench>>[] = []
  const make = async () => {
    const bench = await createNestedBench()
    benches.push(bench)
    return bench
  }
  afterEach(async () => {
    for (const bench of benches.splice(0)) await bench.dispose()
  }, 60_000)

  it('ends with the daemon, when its last host leaves', async () => {
    const host = (await make()).connect()
    const { pid = 0 } = await host.start({ child: true })
    await host.client.close('end')
    await until(() => !isAlive(pid), 'the server is gone')
  }, 60_000)

  it('keeps no daemon when idle, and keeps it while a call is in flight', async () => {
    const bench = await make()
    const host = bench.connect('o', { gatewayIdleMs: 500 })
    const { pid = 0 } = await host.start()
    await host.client.close('detach')
    await until(() => !isAlive(pid), 'the daemon ended with its server')
  }, 60_000)

  it('ends the servers of a gateway that was killed, when the next one starts one', async () => {
    const bench = await make()
    const host = bench.connect()
    const { server, pid = 0 } = await host.start({ stubborn: true, child: true })
    const { env } = JSON.parse(await host.callTool(server, 'environment'))
    const { pid: daemon } = await host.client.opened()
    process.kill(daemon, 'SIGKILL')
    await until(() => !isAlive(daemon), 'the daemon is gone')
    expect(isAlive(pid)).toBe(true)
    // The link finds out that the gateway was replaced, and the call that told it fails.
    await host.start({ n: 'next' }).catch(() => host.start({ n: 'next' }))
    await until(() => processesNaming(env.ATELIER_RUN).length === 0, 'what it left is gone')
  }, 60_000)

  it('takes a host that was killed for gone after its grace, and cancels what it had in flight', async () => {
    const bench = await make()
    const journal = join(bench.dir, 'journal')
    const host = bench.connect('other')
    await host.client.opened()
    const start = JSON.stringify(startOf({ journal }))
    const args = [await bench.bundle('nested-host-main'), join(bench.dir, '..'), bench.script, '1000', start]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    child.kill('SIGKILL')
    const heard = () => readFileSync(journal, 'utf8')
    await until(() => heard().includes('"hang"'), 'the call arrives')
    expect(heard()).not.toContain('notifications/cancelled')
    await until(() => heard().includes('The client has left'), 'it is cancelled')
    const taken = await host.client.call('nested.start', startOf({ journal }))
    expect(taken).toMatchObject({ server: String(said).trim(), fresh: false })
    expect(await host.callTool(taken.server, 'count')).toBe('1')
  }, 60_000)

  it('is reset with the workspace', async () => {
    const host = (await make()).connect()
    const { pid = 0 } = await host.start()
    await host.client.call('reset', {})
    expect((await host.client.call('nested.list', {})).servers).toEqual([])
    expect(isAlive(pid)).toBe(false)
  }, 60_000)

  it('leaves the older self of a server that is declared anew', async () => {
    const host = (await make()).connect()
    const { pid = 0 } = await host.start({ version: 1 })
    const next = await host.start({ version: 2 })
    await until(() => !isAlive(pid), 'the older one is gone')
    expect((await host.client.call('nested.list', {})).servers).toMatchObject([{ server: next.server }])
    const other = await host.start({ version: 3 }, { scope: { agent: 'other', session: '' } })
    expect(other.fresh).toBe(true)
    expect((await host.client.call('nested.list', {})).servers).toHaveLength(2)
  }, 60_000)

  it('keeps the older self that another host is about to use', async () => {
    const bench = await make()
    const [host, another] = [bench.connect('a'), bench.connect('b')]
    const { server } = await host.start({ version: 1 })
    const next = await another.start({ version: 2 })
    expect(await host.callTool(server, 'count')).toBe('1')
    await another.start({ version: 3 })
    const { servers } = await host.client.call('nested.list', {})
    expect(servers.map(each => each.server)).not.toContain(server)
    expect(servers.map(each => each.server)).not.toContain(next.server)
  }, 60_000)
})
