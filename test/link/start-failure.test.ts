import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openProcess } from '../../src/backends/local/processes.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { LinkClient } from '../../src/link/client.ts'
import { type Bench, createBench } from './support.ts'

describe('a gateway that can’t start', () => {
  let bench: Bench
  let base: string
  beforeAll(async () => {
    bench = await createBench('real')
    base = bench.environment.info.workdir
  })
  afterAll(() => bench.dispose())

  /** What a call fails with, and how long that took in ms. */
  async function failure(change: { dir?: string; workdir?: string }) {
    const place = { dir: bench.dir, workdir: base, ...change }
    const info = { ...bench.environment.info, workdir: place.workdir, socket: join(place.dir, 's') }
    Object.assign(bench.environment, { info })
    const start = performance.now()
    await using client = bench.connect({ reconnectMs: 20_000 })
    const error = await client.call('ping', {}).catch(error => error)
    return { code: error.code, message: error.message as string, ms: performance.now() - start }
  }

  it('says that the working directory is missing, at once', async () => {
    const { code, message, ms } = await failure({ workdir: join(base, 'nowhere') })
    expect(code).toBe('precondition_failed')
    expect(message).toContain(`The gateway did not start: The working directory "${join(base, 'nowhere')}" is no directory`)
    expect(ms).toBeLessThan(30_000)
  }, 60_000)

  it('says what is wrong with its runtime directory', async () => {
    mkdirSync(join(base, 'open'))
    chmodSync(join(base, 'open'), 0o755)
    symlinkSync(bench.dir, join(base, 'link'))
    writeFileSync(join(base, 'file'), '')
    for (const [name, reason] of [
      ['open', 'is open to others'],
      ['link', 'is no directory of its own'],
      ['file/below', 'ENOTDIR'],
    ] as const) {
      const { code, message } = await failure({ dir: join(base, name) })
      expect(message).toContain(reason)
      expect(message).toContain('The gateway did not start: ')
      expect(code).toBe('precondition_failed')
    }
    rmSync(join(base, 'link'))
  }, 60_000)

  it('says so through a relay as well', async () => {
    const flags = ['--dir', bench.dir, '--workdir', join(base, 'nowhere'), '--root', base]
    const argv = [process.execPath, bench.script, 'attach', ...flags]
    const client = new LinkClient({
      dial: async signal => ({
        stream: await openProcess(argv, { cwd: base, log: join(base, 'attach.log') }, { signal }),
        clean: true,
      }),
      open: { owner: 'o', env: {}, graceMs: 1000 },
      ...{ reconnectMs: 20_000, logger: silentLogger },
    })
    await expect(client.opened()).rejects.toMatchObject({
      code: 'precondition_failed',
      message: expect.stringContaining('is no directory'),
    })
  }, 60_000)
})
