import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { offloadBench } from './bench.ts'

const DAY_MS = 86_400_000
const block = (text: string) => ({
  type: 'data',
  source: { type: 'base64', data: Buffer.from(text).toString('base64'), media_type: 'text/plain' },
})

/** Offloads a blob, and makes it two days old. */
async function oldBlob({ offload }: ReturnType<typeof offloadBench>, text: string): Promise<string> {
  const { blob } = await offload.offloadDataBlock(block(text))
  const then = Date.now() / 1000 - (2 * DAY_MS) / 1000
  utimesSync(blob!.path, then, then)
  return blob!.path.slice(blob!.path.lastIndexOf('/') + 1)
}

describe('list', () => {
  it('gives every offloaded file with its session, and nothing else', async () => {
    const { offload, root } = offloadBench()
    expect(await offload.list()).toEqual([])
    const context = await offload.offloadContext('a/b', [{ role: 'user' }])
    const result = await offload.offloadToolResult('a/b', { id: 'x\ny', output: 'text' })
    await offload.offloadToolResult('other', { id: 'x', output: 'text' })
    writeFileSync(join(root, 'sessions/stray.txt'), '')
    writeFileSync(join(root, 'sessions/other/notes.md'), '')
    mkdirSync(join(root, 'sessions/other/deep'))
    writeFileSync(join(root, 'sessions/other/deep/context.jsonl'), '')
    const all = await offload.list()
    expect(all.map(({ session, kind }) => [session, kind])).toEqual([
      ['a/b', 'context'],
      ['a/b', 'tool_result'],
      ['other', 'tool_result'],
    ])
    expect(all[0]).toMatchObject({ path: context.path, uri: context.uri, size: context.size })
    expect(all[1]).toMatchObject({ path: result.path, uri: result.uri, size: 4 })
    expect(await offload.list('a/b')).toEqual(all.slice(0, 2))
    expect(await offload.list('none')).toEqual([])
  })
})

describe('purgeSession', () => {
  it('removes one session and no other', async () => {
    const { offload, root } = offloadBench()
    for (const session of ['a', 'b']) await offload.offloadContext(session, [{ role: 'user', content: [block(session)] }])
    expect(await offload.purgeSession('a')).toBe(true)
    expect(await offload.purgeSession('a')).toBe(false)
    expect(await offload.purgeSession('..')).toBe(false)
    expect(readdirSync(join(root, 'sessions'))).toEqual(['b'])
    expect(readdirSync(join(root, 'data'))).toHaveLength(2)
  })
})

describe('sweep', () => {
  it('removes old blobs that nothing refers to', async () => {
    const bench = offloadBench()
    const { offload, root, workdir } = bench
    expect(await offload.sweep()).toEqual({ removed: [], bytes: 0 })
    const named = await oldBlob(bench, 'in a context')
    const noted = await oldBlob(bench, 'in a file of the project')
    const gone = await oldBlob(bench, 'in a purged session')
    const lost = await oldBlob(bench, 'nowhere')
    await offload.offloadDataBlock(block('just now'))
    writeFileSync(join(root, 'data/of-the-user.txt'), '')
    mkdirSync(join(root, 'sessions/s'), { recursive: true })
    const filler = 'x'.repeat(262_144 - 20)
    writeFileSync(join(root, 'sessions/s/context.jsonl'), `{"fill":"${filler}","url":"workspace:///data/${named}"}\n`)
    writeFileSync(join(workdir, 'notes.md'), `See workspace:///data/${noted}.\n`)
    await offload.offloadContext('purged', [{ url: `workspace:///data/${gone}` }])
    await offload.purgeSession('purged')
    const { removed, bytes } = await offload.sweep()
    expect(removed.sort()).toEqual([gone, lost].sort())
    expect(bytes).toBe('in a purged session'.length + 'nowhere'.length)
    expect(readdirSync(join(root, 'data'))).toHaveLength(4)
    expect((await offload.sweep({ olderThanMs: -1_000 })).removed).toHaveLength(1)
  })

  it('spares what was offloaded again', async () => {
    const bench = offloadBench()
    const name = await oldBlob(bench, 'again')
    await bench.offload.offloadDataBlock(block('again'))
    expect((await bench.offload.sweep()).removed).toEqual([])
    expect(readFileSync(join(bench.root, 'data', name), 'utf8')).toBe('again')
  })
})
