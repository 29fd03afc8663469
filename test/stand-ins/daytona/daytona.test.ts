import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Daytona, type PtyHandle, type Sandbox } from '@daytonaio/sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FaultRule } from '../shared/faults.ts'
import { startDaytona } from './daytona.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'
const missing = (() => {
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' })
    return ''
  } catch {
    return ` (skipped: no container engine with the image ${IMAGE})`
  }
})()

describe.skipIf(missing !== '')(`the SDK of Daytona on the stand-in${missing}`, () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'at-standin-'))
  let standIn: Awaited<ReturnType<typeof startDaytona>>
  let client: Daytona
  let sandbox: Sandbox

  beforeAll(async () => {
    standIn = await startDaytona({ port: 0, stateDir, mounts: [], image: IMAGE })
    client = new Daytona({ apiKey: 'sdk', apiUrl: `${standIn.url}/api`, target: 'us', useDeprecatedPolling: true })
    sandbox = await client.create({ name: 'one', labels: { team: 'a' }, envVars: { A: '1' } })
  })
  afterAll(async () => {
    await standIn.removeAll()
    await standIn[Symbol.asyncDispose]()
    rmSync(stateDir, { recursive: true, force: true })
  })

  /** A terminal, and what it said so far. */
  async function terminal(id: string, open: (onData: (data: Uint8Array) => void) => Promise<PtyHandle>) {
    const said: Buffer[] = []
    const handle = await open(data => void said.push(Buffer.from(data)))
    const text = () => Buffer.concat(said).toString('latin1')
    return { id, handle, text, type: (line: string) => handle.sendInput(`${line}\n`) }
  }
  const newTerminal = (id: string) => terminal(id, onData => sandbox.process.createPty({ id, onData }))

  test('names are unique, lists come in pages by labels, keys are organizations', async () => {
    await expect(client.create({ name: 'one' })).rejects.toMatchObject({ name: 'DaytonaConflictError', statusCode: 409 })
    const second = await client.create({ name: 'two', labels: { team: 'b' } })
    const names = async (query: object, from = client) => {
      const found = []
      for await (const { name } of from.list(query)) found.push(name)
      return found.sort()
    }
    expect(await names({ limit: 1 })).toEqual(['one', 'two'])
    expect(await names({ labels: { team: 'b' } })).toEqual(['two'])
    const key = (apiKey: string) =>
      new Daytona({ apiKey, apiUrl: `${standIn.url}/api`, target: 'us', useDeprecatedPolling: true })
    expect(await names({}, key('other'))).toEqual([])
    await expect(names({}, key('wrong'))).rejects.toMatchObject({ name: 'DaytonaAuthenticationError' })
    await second.delete(60, true)
    await expect(client.get('two')).rejects.toMatchObject({ name: 'DaytonaNotFoundError' })
  })

  test('a command is read from the input of the shell; its outputs are one text; a time limit ends its group', async () => {
    const { exitCode, result } = await sandbox.process.executeCommand('echo "$A"; echo err >&2; printf "\\377"; exit 3', '/tmp')
    expect([exitCode, result]).toEqual([3, '1\nerr\n\ufffd'])
    expect((await sandbox.process.executeCommand('pwd', '/nowhere')).exitCode).toBe(-1)
    const late = sandbox.process.executeCommand('sleep 6611 & sleep 6611', undefined, undefined, 1)
    await expect(late).rejects.toMatchObject({ name: 'DaytonaTimeoutError', statusCode: 408 })
    expect((await sandbox.process.executeCommand('pgrep -cfx "sleep 6611"')).result.trim()).toBe('0')
  })

  test('files go up and come down as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256))
    await sandbox.fs.uploadFile(bytes, '/tmp/deep/a b')
    expect(Buffer.from(await sandbox.fs.downloadFile('/tmp/deep/a b')).equals(bytes)).toBe(true)
    expect(await sandbox.fs.getFileDetails('/tmp/deep/a b')).toMatchObject({ size: bytes.length, isDir: false })
    await expect(sandbox.fs.downloadFile('/tmp/none')).rejects.toMatchObject({ statusCode: 404 })
    await sandbox.fs.deleteFile('/tmp/deep/a b')
    expect(await sandbox.fs.listFiles('/tmp/deep')).toEqual([])
  })

  test('a terminal lives on without a client, says nothing twice, and ends with its shell', async () => {
    const first = await newTerminal('t1')
    await first.type('echo be""gun; tty')
    await vi.waitFor(() => expect(first.text()).toMatch(/begun\r\n\/dev\/pts/), 10_000)
    await first.handle.disconnect()
    await sandbox.process.executeCommand('sleep 0.3')
    const again = await terminal('t1', onData => sandbox.process.connectPty('t1', { onData }))
    await again.type('echo ag""ain')
    await vi.waitFor(() => expect(again.text()).toContain('again'), 10_000)
    expect(again.text()).not.toContain('begun')
    await again.type('exit 7')
    expect(await again.handle.wait()).toMatchObject({ exitCode: 7 })
    expect(await sandbox.process.listPtySessions()).toEqual([])
  })

  test('removing a terminal ends all below its shell, other sessions included', async () => {
    const one = await newTerminal('t2')
    await one.type('setsid -w sleep 6622 & sleep 6622')
    const count = async () => (await sandbox.process.executeCommand('pgrep -cfx "sleep 6622"')).result.trim()
    await vi.waitFor(async () => expect(await count()).toBe('2'), 10_000)
    await one.handle.kill()
    await vi.waitFor(async () => expect(await count()).toBe('0'), 10_000)
  })

  test('a message of more than 64 KiB breaks the connection, a smaller one does not', async () => {
    const one = await newTerminal('t3')
    await one.type('stty raw -echo; wc -c')
    await one.handle.sendInput(Buffer.alloc(65_536, 65))
    expect(one.handle.isConnected()).toBe(true)
    await one.handle.sendInput(Buffer.alloc(65_537, 65))
    await vi.waitFor(() => expect(one.handle.isConnected()).toBe(false), 10_000)
    expect(await sandbox.process.getPtySessionInfo('t3')).toMatchObject({ active: true })
    await sandbox.process.killPtySession('t3')
  })

  test('a rule of misbehaviour over HTTP is met, and taken back', async () => {
    const rule: FaultRule = { match: 'GET /api/sandbox/one', status: 429, retryAfter: 7 }
    await fetch(`${standIn.url}/__faults`, { method: 'POST', body: JSON.stringify(rule) })
    await expect(client.get('one')).rejects.toMatchObject({ name: 'DaytonaRateLimitError', headers: { 'retry-after': '7' } })
    await fetch(`${standIn.url}/__faults`, { method: 'POST', body: JSON.stringify(rule) })
    await fetch(`${standIn.url}/__faults`, { method: 'DELETE' })
    expect((await client.get('one')).state).toBe('started')
  })

  test('a stopped sandbox refuses its toolbox, and comes back with its files, also from the archive', async () => {
    await sandbox.process.executeCommand('echo kept > /tmp/kept')
    await sandbox.stop()
    await expect(sandbox.process.executeCommand('true')).rejects.toMatchObject({ statusCode: 400 })
    await sandbox.archive()
    await vi.waitFor(async () => expect((await client.get('one')).state).toBe('archived'), 10_000)
    await sandbox.start()
    await expect(sandbox.start()).rejects.toMatchObject({ name: 'DaytonaConflictError' })
    expect((await sandbox.process.executeCommand('cat /tmp/kept')).result).toBe('kept\n')
  })
})
