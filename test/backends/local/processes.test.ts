import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Environment } from '../../../src/backends/backend.ts'
import { createLocalBackend } from '../../../src/backends/local/local.ts'
import { silentLogger } from '../../../src/lib/log.ts'

let base: string
let environment: Environment

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'atelier-processes-'))
  const backend = createLocalBackend({ dataDir: join(base, 'data'), runtimeBase: join(base, 'run'), logger: silentLogger })
  environment = await backend.provision({ id: 'ws-p', name: 'p', owner: { user: 'u', agent: '', session: '' } })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const gone = (pid: number) => vi.waitFor(() => expect(alive(pid)).toBe(false), { timeout: 10_000 })

describe('exec', () => {
  test('gives both outputs, the exit code, and passes input; argv is not split again', async () => {
    const result = await environment.exec(['sh', '-c', 'cat; printf "%s" "$1" >&2; pwd >&2; exit 3', 'sh', 'a  b'], {
      input: Buffer.from('in'),
    })
    expect(result.exitCode).toBe(3)
    expect(Buffer.from(result.stdout).toString()).toBe('in')
    expect(Buffer.from(result.stderr).toString()).toContain(`a  b${environment.info.workdir}`)
  })

  test('a missing program is not_found', async () => {
    await expect(environment.exec(['no-such-program-here'])).rejects.toMatchObject({ code: 'not_found' })
  })

  test('time limit and abort end the whole tree', async () => {
    const tree = ['sh', '-c', `sleep 300 & echo $! > ${base}/pid; wait`]
    const read = () => vi.waitFor(() => Number(readFileSync(join(base, 'pid'), 'utf8').trim() || Number.NaN))
    await expect(environment.exec(tree, { timeoutMs: 500 })).rejects.toMatchObject({ code: 'timeout' })
    await gone(await read())
    rmSync(join(base, 'pid'))
    const controller = new AbortController()
    const running = environment.exec(tree, { signal: controller.signal })
    const pid = await read()
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    await gone(pid)
  })

  test('a process that does not read its input is no error', async () => {
    const result = await environment.exec(['true'], { input: Buffer.alloc(1 << 20) })
    expect(result.exitCode).toBe(0)
  })
})

describe('openStream', () => {
  test('carries bytes both ways; stderr goes to the log', async () => {
    const stream = await environment.openStream(['sh', '-c', 'echo oops >&2; cat'])
    stream.end(Buffer.from('hello'))
    expect(await text(stream)).toBe('hello')
    expect(readFileSync(join(environment.info.socket ?? '', '../gateway.log'), 'utf8')).toContain('oops')
  })

  test('destroying the stream, or an abort, ends the process', async () => {
    for (const end of ['destroy', 'abort'] as const) {
      const controller = new AbortController()
      const stream = await environment.openStream(['sh', '-c', 'echo $$; exec sleep 300'], { signal: controller.signal })
      const pid = await new Promise<number>(resolve => stream.once('data', chunk => resolve(Number(String(chunk)))))
      if (end === 'destroy') stream.destroy()
      else controller.abort()
      await gone(pid)
    }
  })
})

test('upload writes whole files with their mode, relative to the root', async () => {
  await environment.upload([{ path: 'bin/tool', data: Buffer.from('#!/bin/sh\necho up'), mode: 0o755 }])
  expect(statSync(join(environment.info.root, 'bin/tool')).mode & 0o777).toBe(0o755)
  const { stdout } = await environment.exec([join(environment.info.root, 'bin/tool')])
  expect(Buffer.from(stdout).toString()).toBe('up\n')
})
