import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createE2bBackend } from '../../../src/backends/e2b/e2b.ts'
import { silentLogger } from '../../../src/lib/log.ts'

const apiKey = process.env.E2B_API_KEY ?? ''
vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

describe.skipIf(apiKey === '')(`e2b: the service itself${apiKey === '' ? ' (skipped: E2B_API_KEY is not set)' : ''}`, () => {
  const backend = createE2bBackend({ apiKey, logger: silentLogger })
  const owner = { user: `test-${randomUUID()}`, agent: '', session: '' }
  const spec = { id: randomUUID(), name: 'test', owner }

  afterAll(async () => {
    for await (const { id, name } of backend.list(owner)) await (await backend.provision({ id, name, owner })).destroy()
  })

  test('makes one sandbox for two hosts, carries a stream, pauses, resumes and removes', async () => {
    expect((await backend.probe()).filter(({ ok }) => !ok)).toEqual([])
    const [one, two] = await Promise.all([backend.provision(spec), backend.provision(spec)])
    expect(one.info.incarnation).toBe(two.info.incarnation)
    const stream = await one.openStream(['cat'])
    const sent = Buffer.from(Array.from({ length: 256 }, (_, value) => value))
    const got: Buffer[] = []
    stream.on('data', (chunk: Buffer) => got.push(chunk))
    stream.write(sent)
    await vi.waitFor(() => expect(Buffer.concat(got).equals(sent)).toBe(true), 20_000)
    stream.destroy()
    await one.exec(['sh', '-c', `echo kept > ${one.info.workdir}/file`])
    await one.suspend()
    expect(await backend.find(spec.id)).toMatchObject({ state: 'suspended', name: 'test' })
    const again = await backend.provision(spec)
    const { stdout } = await again.exec(['cat', `${again.info.workdir}/file`])
    expect(Buffer.from(stdout).toString()).toBe('kept\n')
    await again.destroy()
    expect(await backend.find(spec.id)).toBeUndefined()
  })
})
