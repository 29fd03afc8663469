import { describe, expect, it } from 'vitest'
import type { CallOptions } from '../../src/link/gateway-client.ts'
import { type Answers, FakeEnvironment, openFake } from './fakes.ts'

const run = (answers: Answers) => openFake({ answers: () => answers })

describe('files', () => {
  it('never read more lines than the limit', async () => {
    const { workspace, client } = await run({ 'file.read': {} })
    await workspace.files.read({ path: 'a', session: 's' })
    await workspace.files.read({ path: 'a', session: 's', limit: 99_999 })
    await workspace.files.read({ path: 'a', session: 's', limit: 7 })
    expect(client.asked('file.read').map(params => params.limit)).toEqual([2_000, 2_000, 7])
    expect(client.asked('file.read')[0]).toMatchObject({ maxBytes: 100_000, maxLineBytes: 2_000 })
  })

  it('read a range in calls of at most 1 MiB, up to the end of the file', async () => {
    const file = Buffer.alloc(2_500_000, 'x')
    const bytes = ({ offset, length }: { offset: number; length: number }) => ({
      path: '/work/f',
      size: file.length,
      data: file.subarray(offset, offset + length).toString('base64'),
    })
    const { workspace, client } = await run({ 'file.bytes': bytes })
    const result = await workspace.files.bytes('f', { offset: 100, length: 5_000_000 })
    expect(result.data.length).toBe(file.length - 100)
    expect(Math.max(...client.asked('file.bytes').map(params => params.length as number))).toBeLessThanOrEqual(1_048_576)
    expect((await workspace.files.bytes('f', { offset: 0, length: 0 })).data.length).toBe(0)
  })

  it('stream whole files both ways', async () => {
    const got: string[] = []
    const get = async (_: unknown, { onChunk }: CallOptions) => {
      await onChunk?.(Buffer.from('ab'))
      return { path: '/work/f', size: 2 }
    }
    const put = async (_: unknown, { input }: CallOptions) => {
      for await (const chunk of input!) got.push(Buffer.from(chunk).toString())
      return { path: '/work/g', size: 2 }
    }
    const { workspace, client } = await run({ 'file.get': get, 'file.put': put })
    await workspace.files.get('f', chunk => void got.push(Buffer.from(chunk).toString()))
    await workspace.files.put(
      'g',
      (async function* () {
        yield Buffer.from('cd')
      })(),
      { mode: 0o755 },
    )
    expect(got).toEqual(['ab', 'cd'])
    expect(client.asked('file.put')).toEqual([{ path: 'g', mode: 0o755 }])
  })

  it('are confined to the workdir; logs under the root can be read but not written', async () => {
    const { workspace, client } = await openFake({ options: { confine: 'workdir' } })
    for (const path of ['a', '/etc/passwd', '../x', '/root-of-ours/.atelier/jobs/1/log', '/root-of-ours-not/x'])
      await workspace.files.stat(path)
    await workspace.files.write({ path: '/root-of-ours/.mcp', content: '', session: 's' })
    expect(client.asked('file.stat').map(params => params.confine)).toEqual(['/work', '/work', '/work', '/root-of-ours', '/work'])
    expect(client.asked('file.write')[0]).toMatchObject({ confine: '/work' })
  })

  it('are not confined unless asked', async () => {
    const { workspace, client } = await openFake()
    await workspace.files.stat('/etc/passwd')
    expect(client.asked('file.stat')).toEqual([{ path: '/etc/passwd' }])
  })

  it('confine to the workdir where the root is the workdir', async () => {
    const environments = [new FakeEnvironment({ root: '/work' })]
    const { workspace, client } = await openFake({ environments, options: { confine: 'workdir' } })
    await workspace.files.stat('.atelier/x')
    expect(client.asked('file.stat')[0]).toMatchObject({ confine: '/work' })
  })
})
