import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox } from 'e2b'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { MISSING, onStandIn } from '../../backends/e2b/support.ts'
import { startE2b } from './e2b.ts'

// The SDK's own code is the judge: what it accepts, and what class of error it makes of what is refused.
describe.skipIf(MISSING !== '')(onStandIn('the stand-in of E2B under the SDK'), () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'at-e2b-'))
  let standIn: Awaited<ReturnType<typeof startE2b>>
  let account: { apiKey: string; apiUrl: string; sandboxUrl: string }

  beforeAll(async () => {
    standIn = await startE2b({ port: 0, stateDir, mounts: [] })
    account = { apiKey: 'e2b_truth', apiUrl: standIn.url, sandboxUrl: standIn.url }
  })
  afterEach(() => standIn.faults.clear())
  afterAll(async () => {
    await standIn.removeAll()
    await standIn[Symbol.asyncDispose]()
    rmSync(stateDir, { recursive: true, force: true })
  })

  const create = (more: object = {}) => Sandbox.create('base', { ...account, timeoutMs: 300_000, ...more })
  const named = async (promise: Promise<unknown>) => promise.then(String, error => (error as Error).name)

  test('commands: both streams, exit codes, input, user, directory, list, signals and time-outs', async () => {
    const sandbox = await create({ envs: { FROM_CREATE: '1' } })
    const ran = await sandbox.commands.run('echo "$FROM_CREATE $EXTRA" $PWD; echo no >&2', { envs: { EXTRA: '2' }, cwd: '/tmp' })
    expect(ran).toMatchObject({ stdout: '1 2 /tmp\n', stderr: 'no\n', exitCode: 0 })
    await expect(sandbox.commands.run('exit 7')).rejects.toMatchObject({ name: 'CommandExitError', exitCode: 7 })
    expect(await named(sandbox.commands.run('true', { cwd: '/nowhere' }))).toBe('InvalidArgumentError')
    expect(await named(sandbox.commands.run('true', { user: 'nobody-here' }))).toBe('AuthenticationError')
    expect(await named(sandbox.commands.run('sleep 9', { timeoutMs: 300 }))).toBe('TimeoutError')

    const seen: string[] = []
    const cat = await sandbox.commands.run('cat', { background: true, stdin: true, onStdout: text => void seen.push(text) })
    const listed = [{ pid: cat.pid, cmd: '/bin/bash', args: ['-l', '-c', 'cat'] }]
    await vi.waitFor(async () => expect(await sandbox.commands.list()).toMatchObject(listed), 10_000)
    const again = await sandbox.commands.connect(cat.pid)
    await cat.sendStdin('ä\n')
    await cat.closeStdin()
    expect(await again.wait()).toMatchObject({ stdout: 'ä\n', exitCode: 0 })
    expect(seen).toEqual(['ä\n'])
    expect(await named(sandbox.commands.sendStdin(999_999, 'x'))).toBe('NotFoundError')
    expect(await sandbox.commands.kill(999_999)).toBe(false)

    const sleeping = await sandbox.commands.run('sleep 99', { background: true })
    expect(await sleeping.kill()).toBe(true)
    await expect(sleeping.wait()).rejects.toMatchObject({ name: 'CommandExitError', exitCode: -1 })
    // An exit is remembered.
    await expect((await sandbox.commands.connect(sleeping.pid)).wait()).rejects.toMatchObject({ exitCode: -1 })
  })

  test('a terminal: echo, size, and its end', async () => {
    const sandbox = await create()
    const parts: string[] = []
    const pty = await sandbox.pty.create({ cols: 90, rows: 20, onData: bytes => void parts.push(Buffer.from(bytes).toString()) })
    await sandbox.pty.sendInput(pty.pid, Buffer.from('stty size\n'))
    await vi.waitFor(() => expect(parts.join('')).toContain('20 90'), 10_000)
    await sandbox.pty.resize(pty.pid, { cols: 100, rows: 30 })
    await sandbox.pty.sendInput(pty.pid, Buffer.from('stty size; exit 3\n'))
    await expect(pty.wait()).rejects.toMatchObject({ exitCode: 3 })
    expect(parts.join('')).toContain('30 100')
  })

  test('files: write, read, list, information, folders, moves and what is missing', async () => {
    const { files } = await create()
    expect(await files.write('deep/er/a.txt', 'zwö')).toMatchObject({ path: '/home/user/deep/er/a.txt', name: 'a.txt' })
    expect(await files.read('/home/user/deep/er/a.txt')).toBe('zwö')
    const bytes = new Uint8Array(300_000).map((_, at) => at % 251)
    await files.write([
      { path: '/tmp/b', data: bytes.buffer },
      { path: '/tmp/empty', data: '' },
    ])
    expect(await files.read('/tmp/b', { format: 'bytes' })).toEqual(bytes)
    expect(await files.read('/tmp/empty')).toBe('')
    await files.write('/tmp/streamed', 'octets', { useOctetStream: true, gzip: true })
    expect(await files.getInfo('/tmp/streamed')).toMatchObject({ type: 'file', size: 6, permissions: '-rw-r--r--' })
    expect(await files.list('/home/user/deep', { depth: 2 })).toMatchObject([
      { name: 'er', type: 'dir' },
      { name: 'a.txt', type: 'file' },
    ])
    expect([await files.makeDir('/tmp/new'), await files.makeDir('/tmp/new')]).toEqual([true, false])
    expect(await files.rename('/tmp/b', '/tmp/new/c')).toMatchObject({ path: '/tmp/new/c' })
    await files.remove('/tmp/new')
    expect(await files.exists('/tmp/new')).toBe(false)
    expect(await named(files.read('/nope'))).toBe('FileNotFoundError')
    expect(await named(files.list('/nope'))).toBe('FileNotFoundError')
    expect(await named(files.read('/tmp'))).toBe('InvalidArgumentError')
  })

  test('life: information, pages, metadata, pause, resume with what ran, kill, and the end of time', async () => {
    const metadata = { 'app.ws': 'a b/c', other: 'é=&' }
    const sandbox = await create({ metadata, lifecycle: { onTimeout: 'pause' } })
    const second = await create({ metadata, timeoutMs: 2_000 })
    const pages = Sandbox.list({ ...account, query: { metadata }, order: 'asc', limit: 1 } as object)
    const ids: string[] = []
    while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId))
    expect(ids).toEqual([sandbox.sandboxId, second.sandboxId])
    // Killed by its time-out, since nothing else was asked for.
    await vi.waitFor(async () => expect(await named(second.getInfo())).toBe('SandboxNotFoundError'), { timeout: 15_000 })
    const beep = await sandbox.commands.run('echo $$; sleep 99', { background: true, timeoutMs: 0 })
    expect([await sandbox.pause(), await sandbox.pause()]).toEqual([true, false])
    expect(await named(beep.wait())).toBe('TimeoutError')
    expect(await sandbox.isRunning()).toBe(false)
    expect(await named(sandbox.commands.run('true'))).toBe('SandboxNotFoundError')
    expect(await named(sandbox.setTimeout(60_000))).toBe('SandboxNotFoundError')
    const resumed = await Sandbox.connect(sandbox.sandboxId, { ...account, timeoutMs: 600_000 })
    expect((await resumed.commands.list()).map(({ pid }) => pid)).toEqual([beep.pid])
    const longer = (await resumed.getInfo()).endAt
    await Sandbox.connect(sandbox.sandboxId, { ...account, timeoutMs: 1_000 })
    expect((await resumed.getInfo()).endAt).toEqual(longer)
    await resumed.setTimeout(60_000)
    expect((await resumed.getInfo()).endAt.getTime()).toBeLessThan(longer.getTime())
    expect([await resumed.kill(), await resumed.kill()]).toEqual([true, false])
    expect(await named(Sandbox.connect(sandbox.sandboxId, account))).toBe('SandboxNotFoundError')
  })

  test('accounts do not see each other; a wrong key and an unknown template are refused', async () => {
    const sandbox = await create()
    const other = { ...account, apiKey: 'e2b_other' }
    expect(await Sandbox.list(other as object).nextItems()).toEqual([])
    expect(await named(Sandbox.connect(sandbox.sandboxId, other))).toBe('SandboxNotFoundError')
    expect(await named(Sandbox.create('base', { ...account, apiKey: 'e2b_wrong' }))).toBe('AuthenticationError')
    await expect(Sandbox.create('nope', account)).rejects.toMatchObject({ statusCode: 404 })
  })

  test('starts anew with the sandboxes that it had, and what runs in them', async () => {
    const sandbox = await create({ metadata: { kept: 'yes' } })
    const cat = await sandbox.commands.run('cat', { background: true, stdin: true, timeoutMs: 0 })
    await standIn[Symbol.asyncDispose]()
    standIn = await startE2b({ port: Number(new URL(account.apiUrl).port), stateDir, mounts: [] })
    // The SDK's connections of before are broken, which it learns by using them.
    const again = await vi.waitFor(() => Sandbox.connect(sandbox.sandboxId, { ...account, timeoutMs: 60_000 }), 10_000)
    expect(await again.getInfo()).toMatchObject({ metadata: { kept: 'yes' }, state: 'running' })
    const handle = await again.commands.connect(cat.pid, { timeoutMs: 0 })
    await handle.sendStdin('still here')
    await handle.closeStdin()
    expect(await handle.wait()).toMatchObject({ stdout: 'still here' })
  })

  test.each([
    ['429 with Retry-After, until it goes', { status: 429, retryAfter: 1 }, 'true'],
    ['429 without', { status: 429 }, 'RateLimitError'],
    ['503', { status: 503 }, 'ServiceBusyError'],
    ['500', { status: 500 }, 'SandboxError'],
    ['a reset', { reset: true }, 'TypeError'],
    ['a lost answer', { loseAnswer: true }, 'TypeError'],
  ])('misbehaves by %s as the SDK sees it', async (_, rule, expected) => {
    const sandbox = await create()
    await fetch(`${account.apiUrl}/__faults`, { method: 'POST', body: JSON.stringify({ match: '/pause$', ...rule }) })
    expect(await named(sandbox.pause())).toBe(expected)
    expect(await (await fetch(`${account.apiUrl}/__faults`)).json()).toEqual({ rules: [], modes: {} })
    // What was only the answer's loss has happened.
    expect((await sandbox.getInfo()).state).toBe('loseAnswer' in rule || expected === 'true' ? 'paused' : 'running')
  })

  test('cuts a stream in its midst, or goes silent', async () => {
    const sandbox = await create()
    standIn.faults.add({ match: 'Process/Start', resetAfterBytes: 5_000 })
    await expect(sandbox.commands.run('seq 1 100000')).rejects.toThrow('terminated')
    standIn.faults.add({ match: 'Process/Start', muteAfterMs: 300 })
    const seen: string[] = []
    const silent = await sandbox.commands.run('echo one; sleep 1; echo two', {
      background: true,
      onStdout: text => void seen.push(text),
    })
    await new Promise(resolve => setTimeout(resolve, 2_500))
    expect([seen, silent.exitCode]).toEqual([['one\n'], undefined])
    await silent.disconnect()
  })
})
