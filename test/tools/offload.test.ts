import { describe, expect, it } from 'vitest'
import { call, lines } from './fakes.ts'

const kept = (fields: object = {}) => ({
  path: '/r/sessions/c1/context.jsonl',
  uri: 'workspace:///sessions/c1/context.jsonl',
  size: 2_048,
  preview: 'user: hi',
  ...fields,
})

describe('offload_context', () => {
  it('says where the messages are, and links to them', async () => {
    const blob = { path: '/r/data/abc.png', uri: 'workspace:///data/abc.png', size: 9, mediaType: 'image/png' }
    const messages = [{ role: 'user', content: 'hi' }]
    const done = kept({ messages: 1, offset: 100, blobs: [blob] })
    const { text, content, calls } = await call('offload_context', { messages }, { 'offload.offloadContext': done })
    expect(text).toBe(
      lines(
        '1 message (2 KB) in /r/sessions/c1/context.jsonl from byte 100 on, and 1 data block in /r/data/.',
        'user: hi',
        '[workspace:///sessions/c1/context.jsonl]',
      ),
    )
    expect(content).toEqual([
      {
        type: 'resource_link',
        uri: 'workspace:///sessions/c1/context.jsonl',
        name: 'context.jsonl',
        mimeType: 'application/jsonl',
        size: 2_148,
      },
    ])
    expect(calls[0]?.args.slice(0, 2)).toEqual(['c1', messages])
  })

  it('takes messages as JSON text, and refuses other things', async () => {
    const done = kept({ messages: 0, size: 0, preview: '', blobs: [] })
    const { calls } = await call('offload_context', { messages: '[{"role":"user"}]' }, { 'offload.offloadContext': done })
    expect(calls[0]?.args[1]).toEqual([{ role: 'user' }])
    for (const messages of ['no json', ['text'], 7]) {
      const { isError, text } = await call('offload_context', { messages })
      expect(isError).toBe(true)
      expect(text).toContain('Argument "messages"')
    }
  })
})

describe('offload_tool_result', () => {
  const run = (result: unknown) => {
    const path = '/r/sessions/c1/tool_result-a.txt'
    return call('offload_tool_result', { id: 'a', result }, { 'offload.offloadToolResult': kept({ path }) })
  }

  it('says where the result is', async () => {
    expect((await run('long text')).text).toBe(
      lines('The result (2 KB) is in /r/sessions/c1/tool_result-a.txt.', 'user: hi', '[workspace:///sessions/c1/context.jsonl]'),
    )
  })

  it('takes text, blocks and whole results, always under the given id', async () => {
    const block = { type: 'text', text: 'x' }
    const given = async (result: unknown) => (await run(result)).calls[0]?.args
    expect(await given('x')).toEqual(['c1', { id: 'a', output: 'x' }, expect.anything()])
    expect(await given([block])).toEqual(['c1', { id: 'a', output: [block] }, expect.anything()])
    expect(await given({ content: [block] })).toEqual(['c1', { id: 'a', content: [block] }, expect.anything()])
    expect(await given({ id: 'other', output: 'x' })).toEqual(['c1', { id: 'a', output: 'x' }, expect.anything()])
  })
})
