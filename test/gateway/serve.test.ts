import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, createBench, run, until } from '../link/support.ts'

describe('the daemon', () => {
  let bench: Bench
  const children: ChildProcess[] = []
  beforeEach(async () => {
    bench = await createBench()
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await bench.dispose()
  })

  function serve(idleMs = 20_000): ChildProcess {
    const base = bench.environment.info.workdir
    const args = [bench.script, 'serve', '--dir', bench.dir, '--workdir', base, '--root', base, '--idle-ms', String(idleMs)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    children.push(child)
    return child
  }
  const listening = (): Promise<void> => until(() => bench.log().includes('gateway listens'))

  it('makes a private directory and socket', async () => {
    serve()
    await listening()
    expect(statSync(bench.dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(bench.dir, 's')).isSocket()).toBe(true)
    await until(() => !existsSync(join(bench.dir, 'lock')))
  }, 30_000)

  it.each([
    ['open to others', (dir: string) => chmodSync(mkdirSync(dir, { recursive: true }) as string, 0o755)],
    ['a symlink', (dir: string) => symlinkSync(mkdirSync(`${dir}-real`, { mode: 0o700, recursive: true }) as string, dir)],
  ])(
    'refuses a runtime directory that is %s',
    async (_name, prepare) => {
      prepare(bench.dir)
      const child = serve()
      const [code] = await once(child, 'exit')
      expect(code).not.toBe(0)
      expect(existsSync(join(bench.dir, 's'))).toBe(false)
    },
    30_000,
  )

  it('replaces a stale socket and a stale lock', async () => {
    mkdirSync(bench.dir, { mode: 0o700 })
    const server = createServer().listen(join(bench.dir, 'other'))
    await once(server, 'listening')
    renameSync(join(bench.dir, 'other'), join(bench.dir, 's'))
    server.close()
    await once(server, 'close')
    const dead = spawn(process.execPath, ['-e', ''])
    await once(dead, 'exit')
    writeFileSync(join(bench.dir, 'lock'), String(dead.pid))
    await using client = bench.connect()
    expect((await client.call('ping', {})).now).toBeGreaterThan(0)
  }, 30_000)

  it('runs once, however many start at the same time', async () => {
    const started = Array.from({ length: 5 }, () => serve())
    const exits: number[] = []
    for (const child of started) child.once('exit', code => exits.push(code as number))
    await until(() => exits.length === 4)
    expect(exits).toEqual([0, 0, 0, 0])
    await using client = bench.connect()
    const running = started.find(child => child.exitCode === null)
    expect((await client.opened()).pid).toBe(running?.pid)
  }, 60_000)

  it('serves several links at once, and the goodbye of one leaves the other alone', async () => {
    const first = bench.connect({ owner: 'a' })
    await using second = bench.connect({ owner: 'b' })
    expect((await first.opened()).pid).toBe((await second.opened()).pid)
    expect((await first.call('info', {})).links).toBe(2)
    await first.close('end')
    expect((await second.call('info', {})).links).toBe(1)
    expect(bench.log()).not.toContain('gateway ends')
  }, 30_000)

  it('ends when unused, and only then', async () => {
    const client = bench.connect({ gatewayIdleMs: 700 })
    const { pid } = await client.opened()
    await client.call('command.run', run('sleep:1500'))
    await client.close('detach')
    await until(() => !isAlive(pid))
    expect(bench.log()).toContain('unused for 700 ms')
    expect(existsSync(join(bench.dir, 's'))).toBe(false)
  }, 30_000)

  it('keeps the work of a killed host for its owner’s next link', async () => {
    const host = await startHost(20_000)
    host.child.kill('SIGKILL')
    await using client = bench.connect({ owner: 'o' })
    expect((await client.opened()).pid).toBe(host.daemon)
    expect((await client.call('info', {})).running).toBe(1)
  }, 30_000)

  it('ends the work of a killed host when its grace is over', async () => {
    const host = await startHost(600)
    await using other = bench.connect({ owner: 'another' })
    expect((await other.call('info', {})).running).toBe(1)
    host.child.kill('SIGKILL')
    let running = 1
    while (running > 0) running = (await other.call('info', {})).running
    expect((await other.call('info', {})).links).toBe(1)
  }, 30_000)

  it('goes on after SIGSTOP and SIGCONT', async () => {
    const client = bench.connect()
    const { pid, instance } = await client.opened()
    const states: string[] = []
    process.kill(pid, 'SIGSTOP')
    const call = client.call('command.run', run('echo:thawed'))
    await new Promise(resolve => setTimeout(resolve, 1500))
    process.kill(pid, 'SIGCONT')
    expect((await call).output.head).toBe('thawed')
    expect((await client.call('info', {})).instance).toBe(instance)
    expect(states).toEqual([])
    await client.close('end')
  }, 30_000)

  it('ends its work and itself on SIGTERM', async () => {
    const child = serve()
    await listening()
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    expect(existsSync(join(bench.dir, 's'))).toBe(false)
  }, 30_000)

  it('makes its socket again when it vanished, without losing its links', async () => {
    await using client = bench.connect()
    const { pid } = await client.opened()
    rmSync(join(bench.dir, 's'))
    await until(() => existsSync(join(bench.dir, 's')))
    await using second = bench.connect()
    expect((await second.opened()).pid).toBe(pid)
    expect((await client.call('info', {})).links).toBe(2)
  }, 30_000)

  it('ends when another daemon has taken its place', async () => {
    const first = serve()
    await listening()
    rmSync(join(bench.dir, 's'))
    const server = createServer().listen(join(bench.dir, 's'))
    await once(first, 'exit')
    expect(bench.log()).toContain('another daemon took over')
    expect(existsSync(join(bench.dir, 's'))).toBe(true)
    server.close()
  }, 30_000)

  it('refuses a host of an unknown protocol, and gives way only when unused', async () => {
    await using client = bench.connect()
    const { pid } = await client.opened()
    const hello = { protocol: 99, oldest: 98, link: 'l', epoch: 1, resume: false, received: 0, window: 65536, binary: false }
    expect(await exchange({ k: 'hello', ...hello })).toMatchObject({ k: 'refuse', code: 'version' })
    expect(await exchange({ k: 'hello', ...hello, protocol: 1, oldest: 1, resume: true })).toMatchObject({ code: 'unknown_link' })
    expect(await exchange({ k: 'retire' })).toMatchObject({ k: 'refuse', code: 'busy' })
    await client.close('detach')
    expect(await exchange({ k: 'retire' })).toMatchObject({ k: 'bye' })
    await until(() => !isAlive(pid))
  }, 30_000)

  function exchange(frame: object): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const socket = connect(join(bench.dir, 's'))
      socket.write(`login: \nnot a frame\n${JSON.stringify({ d: 'h', t: 'T', ...frame })}\n`)
      let text = ''
      socket.on('data', data => (text += data)).on('error', reject)
      socket.on('end', () => resolve(JSON.parse(text)))
    })
  }

  async function startHost(graceMs: number): Promise<{ child: ChildProcess; daemon: number }> {
    const script = await bench.bundle('host-main')
    const args = [script, bench.environment.info.workdir, bench.script, String(graceMs)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data')
    return { child, daemon: Number(line) }
  }
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
