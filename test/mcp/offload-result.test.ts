import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { handlesLargeResults, isTooLarge, type LargeResult, limitsFor, offloadResult } from '../../src/mcp/offload-result.ts'
import { offloadBench } from '../workspace/offload/bench.ts'

type Result = Record<string, unknown> & { content: Record<string, unknown>[] }
const limits = { offloadChars: 1_000, offloadMediaBytes: 2_000 }
const long = Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join('')
const text = (value: string) => ({ type: 'text', text: value })

function setup(more: Partial<LargeResult> = {}) {
  const bench = offloadBench()
  const request: LargeResult = {
    ...{ tool: 'Echo', params: {}, limits, conversation: 's1', logger: silentLogger },
    offload: async () => bench.offload,
    ...more,
  }
  return { ...bench, run: async (result: object) => (await offloadResult(result as Result, request)) as Result }
}

describe('a result', () => {
  it('of a bearable size is the same object, and asks for no workspace', async () => {
    const { run } = setup({ offload: () => Promise.reject(new Error('asked')) })
    const result = { content: [text('x'.repeat(1_000))], _meta: { a: 1 } }
    expect(await run(result)).toBe(result)
    const empty = {}
    expect(await run(empty)).toBe(empty)
  })

  it('that is too long keeps head, tail, path and URI', async () => {
    const { run } = setup()
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    const { content, ...rest } = await run({ content: [text(long), image], isError: true, _meta: { a: 1 } })
    expect(rest).toEqual({ isError: true, _meta: { a: 1 } })
    const [shown, picture, link] = content
    expect(picture).toEqual(image)
    const { path } = /is in (?<path>\S+): Read/.exec(String(shown?.text))?.groups ?? {}
    expect(readFileSync(path!, 'utf8')).toBe(long)
    expect(shown?.text).toMatch(/^line 0\nline 1\n/)
    expect(shown?.text).toMatch(/line 499$/)
    expect(shown?.text).toContain(`${link?.uri}`)
    expect(String(shown?.text).length).toBeLessThan(1_100)
    expect(link).toMatchObject({ type: 'resource_link', mimeType: 'text/plain', size: long.length })
    expect(link?.uri).toMatch(/^workspace:\/\/\/sessions\/s1\/tool_result-Echo-[0-9a-f]{8}\.txt$/)
  })

  it('is named after the call where the client names it', async () => {
    const { run } = setup({ params: { _meta: { 'claudecode/toolUseId': 'toolu_1' } } })
    expect((await run({ content: [text(long)] })).content.at(-1)?.name).toBe('tool_result-toolu_1.txt')
  })

  it('of embedded resources is moved as a whole', async () => {
    const { run, root } = setup()
    const blob = Buffer.alloc(3_000, 7).toString('base64')
    const content = [
      { type: 'resource', resource: { uri: 'file:///a', text: long } },
      { type: 'resource', resource: { uri: 'file:///b', blob, mimeType: 'application/pdf' } },
    ]
    const result = await run({ content })
    expect(JSON.stringify(result).length).toBeLessThan(2_000)
    const file = readFileSync(`${root}/sessions/s1/${result.content.at(-1)?.name}`, 'utf8')
    expect(file.startsWith(long)).toBe(true)
    expect(file).toMatch(
      /<data url='workspace:\/\/\/data\/[0-9a-f]{64}\.pdf' name='file:\/\/\/b' media_type='application\/pdf'\/>$/,
    )
  })

  it('with a very large image has a link in its place', async () => {
    const { run, root } = setup()
    const data = Buffer.alloc(3_000, 1).toString('base64')
    const { content } = await run({ content: [text('see'), { type: 'image', data, mimeType: 'image/png' }] })
    expect(content[0]).toEqual(text('see'))
    expect(content[1]?.text).toMatch(/^\[image\/png, 2.9 KB, is in /)
    expect(content[2]).toMatchObject({ type: 'resource_link', mimeType: 'image/png', size: 3_000 })
    expect(readFileSync(`${root}/${String(content[2]?.uri).slice('workspace:///'.length)}`).toString('base64')).toBe(data)
  })

  it('keeps structured content that is small, or that the tool has promised', async () => {
    const large = { rows: long.split('\n') }
    const both = { content: [text(JSON.stringify(large))], structuredContent: large }
    const moved = await setup().run(both)
    expect(moved.structuredContent).toBeUndefined()
    expect((await setup().run({ content: [text(long)], structuredContent: { n: 1 } })).structuredContent).toEqual({ n: 1 })
    const promised = await setup({ keepStructured: true }).run(both)
    expect(promised.structuredContent).toBe(large)
    expect(JSON.stringify(promised.content).length).toBeLessThan(2_000)
    const alone = await setup().run({ content: [], structuredContent: large })
    expect(alone.structuredContent).toBeUndefined()
    expect(alone.content[0]?.text).toContain('"rows"')
    const kept = { content: [], structuredContent: large }
    expect(await setup({ keepStructured: true }).run(kept)).toEqual(kept)
    const short = { content: [text('see the rows')], structuredContent: large }
    expect(await setup({ keepStructured: true }).run(short)).toEqual(short)
  })

  it('that can not be kept is given whole', async () => {
    const full = { offloadToolResult: () => Promise.reject(new WorkspaceError('no_space', 'full')) }
    const logged: object[] = []
    const logger = { ...silentLogger, warn: (fields: object) => void logged.push(fields) }
    const { run } = setup({ offload: async () => full as never, logger })
    const result = { content: [text(long)] }
    expect(await run(result)).toBe(result)
    expect(logged).toEqual([{ tool: 'Echo', error: 'full' }])
  })
})

describe('offloading', () => {
  const result = { content: [text(long)] }
  it('is off by configuration, for a call, or for a client', () => {
    expect(isTooLarge(result, { params: {}, limits })).toBe(true)
    expect(isTooLarge(result, { params: {}, limits: { ...limits, offloadChars: 0 } })).toBe(false)
    expect(isTooLarge(result, { params: { _meta: { 'atelier/offload': false } }, limits })).toBe(false)
    const client = (experimental: unknown) => ({ capabilities: { experimental } })
    expect(handlesLargeResults(client({ 'atelier/large-results': {} }))).toBe(true)
    for (const other of [client({}), client(undefined), {}, undefined, client({ 'atelier/large-results': false })]) {
      expect(handlesLargeResults(other)).toBe(false)
    }
  })

  it('leaves a tool what it asks for, within a bound', () => {
    const asking = (size: unknown) => limitsFor({ _meta: { 'anthropic/maxResultSizeChars': size } }, limits).offloadChars
    expect([5_000, 10, 1e9, 'x', undefined].map(asking)).toEqual([5_000, 1_000, 500_000, 1_000, 1_000])
    expect(limitsFor({ _meta: { 'anthropic/maxResultSizeChars': 9 } }, { ...limits, offloadChars: 0 }).offloadChars).toBe(0)
    expect(limitsFor(undefined, limits)).toBe(limits)
  })
})
