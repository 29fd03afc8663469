import { describe, expect, it } from 'vitest'
import type { Blob } from '../../../src/workspace/offload/blob.ts'
import { replaceData } from '../../../src/workspace/offload/replace-data.ts'
import { readToolResult, resultText } from '../../../src/workspace/offload/tool-result.ts'

const BYTES = Buffer.from([137, 80, 78, 71, 1, 2, 3])
const B64 = BYTES.toString('base64')
const URI = (extension: string) => expect.stringMatching(new RegExp(`^workspace:///data/[0-9a-f]{64}\\.${extension}$`))

/** A block of each shape, and what stands in the file in its place. */
const SHAPES: Record<string, [block: unknown, kept: unknown]> = {
  AgentScope: [
    { type: 'data', id: 'b', source: { type: 'base64', data: B64, media_type: 'image/png' }, name: 'a.png' },
    { type: 'data', id: 'b', source: { type: 'url', url: URI('png'), media_type: 'image/png' }, name: 'a.png' },
  ],
  'Anthropic image': [
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: B64 }, cache_control: { type: 'ephemeral' } },
    { type: 'image', source: { type: 'url', url: URI('jpg'), media_type: 'image/jpeg' }, cache_control: { type: 'ephemeral' } },
  ],
  'Anthropic document in a tool result': [
    {
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: B64 } }],
    },
    {
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'document', source: { type: 'url', url: URI('pdf'), media_type: 'application/pdf' } }],
    },
  ],
  'MCP image': [
    { type: 'image', data: B64, mimeType: 'image/png', annotations: { priority: 1 } },
    { type: 'resource_link', uri: URI('png'), name: 'image', mimeType: 'image/png', size: 7, annotations: { priority: 1 } },
  ],
  'MCP audio': [
    { type: 'audio', data: B64, mimeType: 'audio/mpeg' },
    { type: 'resource_link', uri: URI('mp3'), name: 'audio', mimeType: 'audio/mpeg', size: 7 },
  ],
  'MCP resource': [
    { type: 'resource', resource: { uri: 'file:///a.pdf', blob: B64, mimeType: 'application/pdf' } },
    { type: 'resource_link', uri: URI('pdf'), name: 'file:///a.pdf', mimeType: 'application/pdf', size: 7 },
  ],
  'OpenAI image': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${B64}`, detail: 'low' } },
    { type: 'image_url', image_url: { url: URI('png'), detail: 'low' } },
  ],
  'OpenAI audio': [
    { type: 'input_audio', input_audio: { data: B64, format: 'mp3' } },
    { type: 'input_audio', input_audio: { url: URI('mp3'), format: 'mp3' } },
  ],
  'OpenAI file': [
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${B64}` } },
    { type: 'file', file: { filename: 'a.pdf', file_data: URI('pdf') } },
  ],
  'OpenAI Responses image': [
    { type: 'input_image', image_url: `data:image/webp;base64,${B64}`, detail: 'auto' },
    { type: 'input_image', image_url: URI('webp'), detail: 'auto' },
  ],
  'OpenAI Responses file': [
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${B64}` },
    { type: 'input_file', filename: 'a.pdf', file_data: URI('pdf') },
  ],
  'OpenAI Responses generated image': [
    { type: 'image_generation_call', id: 'i', status: 'completed', result: B64 },
    { type: 'image_generation_call', id: 'i', status: 'completed', result: URI('png') },
  ],
  'AI SDK image of bytes': [
    { type: 'image', image: new Uint8Array(BYTES), mediaType: 'image/png' },
    { type: 'image', image: URI('png'), mediaType: 'image/png' },
  ],
  'AI SDK image of base64': [
    { type: 'image', image: B64 },
    { type: 'image', image: URI('png') },
  ],
  'AI SDK file': [
    { type: 'file', data: B64, mediaType: 'application/pdf', filename: 'a.pdf' },
    { type: 'file', data: URI('pdf'), mediaType: 'application/pdf', filename: 'a.pdf' },
  ],
  'AI SDK file of a UI message': [
    { type: 'file', url: `data:text/plain;base64,${B64}`, mediaType: 'text/plain' },
    { type: 'file', url: URI('txt'), mediaType: 'text/plain' },
  ],
  'AI SDK tool output': [
    {
      type: 'tool-result',
      toolCallId: 'c',
      output: { type: 'content', value: [{ type: 'media', data: B64, mediaType: 'image/png' }] },
    },
    {
      type: 'tool-result',
      toolCallId: 'c',
      output: { type: 'content', value: [{ type: 'media', data: URI('png'), mediaType: 'image/png' }] },
    },
  ],
  'bytes anywhere': [
    { type: 'other', raw: BYTES },
    { type: 'other', raw: { type: 'url', url: URI('bin'), media_type: 'application/octet-stream' } },
  ],
}

describe('data', () => {
  it.each(Object.entries(SHAPES))('of %s is found and replaced', (_, [block, kept]) => {
    const blobs = new Map<string, Blob>()
    const message = { role: 'user', content: [{ type: 'text', text: 'see' }, block] }
    expect(JSON.parse(JSON.stringify(replaceData(message, blobs)))).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'see' }, kept],
    })
    expect([...blobs.values()].map(({ bytes }) => Buffer.from(bytes))).toEqual([BYTES])
  })

  it('is told from what only looks like it', () => {
    const blocks = [
      { type: 'image', image: 'https://example.com/a.png' },
      { type: 'image', image: new URL('https://example.com/a.png') },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } },
      { type: 'file', file: { file_id: 'f1' } },
      { type: 'input_file', file_id: 'f1' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'base64', data: 'not base64!', media_type: 'image/png' } },
      { type: 'tool_use', input: { data: B64, type: 'text' } },
      { type: 'text', text: B64 },
    ]
    const blobs = new Map<string, Blob>()
    const made = replaceData(blocks, blobs)
    expect(JSON.stringify(made)).toBe(JSON.stringify(blocks))
    expect(blobs.size).toBe(0)
  })
})

describe('tool results', () => {
  const text = (result: unknown) => resultText(readToolResult(result), new Map())
  it.each([
    ['AgentScope', { type: 'tool_result', id: 'c', name: 'Bash', output: [{ type: 'text', text: 'hi' }] }],
    [
      'MCP',
      {
        id: 'c',
        content: [
          { type: 'text', text: 'h' },
          { type: 'text', text: 'i' },
        ],
      },
    ],
    ['Anthropic', { type: 'tool_result', tool_use_id: 'c', content: 'hi' }],
    ['OpenAI', { role: 'tool', tool_call_id: 'c', content: 'hi' }],
    ['OpenAI Responses', { type: 'function_call_output', call_id: 'c', output: 'hi' }],
    ['AI SDK', { type: 'tool-result', toolCallId: 'c', toolName: 'x', output: { type: 'text', value: 'hi' } }],
  ])('of %s give id and text', (_, result) => {
    expect(readToolResult(result).id).toBe('c')
    expect(text(result)).toBe('hi')
  })

  it('keep data as tags, texts of resources, and JSON of the rest', () => {
    const blobs = new Map<string, Blob>()
    const content = [
      { type: 'image', data: B64, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'in a' } },
      { type: 'resource_link', uri: 'file:///b', name: 'b' },
      { type: 'odd', value: 1 },
    ]
    const written = resultText(readToolResult({ id: 'c', content }), blobs)
    const [name] = blobs.keys()
    expect(written).toBe(
      `<data url='workspace:///data/${name}' name='image' media_type='image/png'/>in a<data url='file:///b' name='b' media_type=''/>{"type":"odd","value":1}`,
    )
    expect(text({ id: 'c', output: { type: 'json', value: { a: [1] } } })).toBe('{\n  "a": [\n    1\n  ]\n}')
  })

  it('hold structured content once', () => {
    const structuredContent = { a: [1, 'ä'] }
    const said = JSON.stringify(structuredContent)
    expect(text({ id: 'c', content: [{ type: 'text', text: said }], structuredContent })).toBe(said)
    const pretty = `${JSON.stringify(structuredContent, null, 2)}\n`
    expect(text({ id: 'c', content: [{ type: 'text', text: 'Found.' }], structuredContent })).toBe(`Found.\n${pretty}`)
    expect(text({ id: 'c', structuredContent })).toBe(pretty)
  })
})
