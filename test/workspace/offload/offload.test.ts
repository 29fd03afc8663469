import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../../src/lib/errors.ts'
import { offloadBench } from './bench.ts'

const FIXTURE = join(import.meta.dirname, '../../fixtures/agentscope')
const PIXEL = readFileSync(join(FIXTURE, 'pixel.png.b64'), 'utf8').trim()
const PIXEL_NAME = '889ecdd36dcef61e60ab84e0f71cfe63267c20eca2946f379c862712c22b6cd9.png'
const FAKE = Buffer.from('fake').toString('base64')
const FAKE_HASH = 'f81525062057fdcf43d28080046aaa8929b9f4b8bf07344861ef78b883445cec'

const png = (data: string) => ({ type: 'base64', data, media_type: 'image/png' })
const image = (fields: object = {}) => ({ type: 'data', id: 'b2', source: png(PIXEL), name: 'pixel.png', ...fields })
const said = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })

function jsonl(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map(line => JSON.parse(line))
}

/** What a fixture's message was before AgentScope replaced its data. */
function withData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withData)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  const source = fields.source as { type?: string } | undefined
  if (fields.type === 'data' && source?.type === 'url') return { ...fields, source: png(PIXEL) }
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, withData(field)]))
}

describe('offloadContext', () => {
  it('appends a line a message, in order, and says where', async () => {
    const { offload, root } = offloadBench()
    const path = join(root, 'sessions/s1/context.jsonl')
    const first = await offload.offloadContext('s1', [said('one'), said('zwö')])
    const uri = 'workspace:///sessions/s1/context.jsonl'
    expect(first).toMatchObject({ path, uri, messages: 2, offset: 0, blobs: [] })
    expect(first.preview).toBe('user: one\nuser: zwö')
    const second = await offload.offloadContext('s1', [said('three')])
    expect(second).toMatchObject({ offset: first.size, messages: 1 })
    expect(jsonl(path)).toEqual([said('one'), said('zwö'), said('three')])
    expect(statSync(path).size).toBe(first.size + second.size)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('writes what AgentScope writes, byte for byte', async () => {
    const { offload, root } = offloadBench()
    const lines = readFileSync(join(FIXTURE, 'sessions/s1/context.jsonl'), 'utf8')
    for (const line of lines.trimEnd().split('\n')) await offload.offloadContext('s1', [withData(JSON.parse(line))])
    expect(readFileSync(join(root, 'sessions/s1/context.jsonl'), 'utf8')).toBe(lines)
    expect(readdirSync(join(root, 'data'))).toEqual([PIXEL_NAME])
  })

  it('goes on in a file of AgentScope, and after a line that was cut short', async () => {
    const { offload, root } = offloadBench()
    mkdirSync(join(root, 'sessions/s1'), { recursive: true })
    const path = join(root, 'sessions/s1/context.jsonl')
    writeFileSync(path, `${readFileSync(join(FIXTURE, 'sessions/s1/context.jsonl'), 'utf8')}{"cut": "sh`)
    await offload.offloadContext('s1', [said('next')])
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    expect(JSON.parse(lines[3]!)).toEqual(said('next'))
  })

  it('keeps all of concurrent calls, each in one piece', async () => {
    const { offload, root } = offloadBench()
    const call = (n: number) => {
      const messages = [0, 1, 2].map(part => ({ n, part, fill: 'x'.repeat(5_000) }))
      return offload.offloadContext('s', messages)
    }
    await Promise.all(Array.from({ length: 100 }, (_, n) => call(n)))
    const lines = jsonl(join(root, 'sessions/s/context.jsonl'))
    expect(lines).toHaveLength(300)
    for (let at = 0; at < lines.length; at += 3) {
      const piece = lines.slice(at, at + 3).map(({ n, part }) => [n, part])
      expect(piece).toEqual([0, 1, 2].map(part => [lines[at]?.n, part]))
    }
  })

  it('changes no message that it is given', async () => {
    const { offload } = offloadBench()
    const message = { role: 'assistant', content: [image(), { type: 'tool_result', output: [image()] }] }
    const before = structuredClone(message)
    await offload.offloadContext('s', [message])
    expect(message).toEqual(before)
  })

  it('writes nothing for no messages', async () => {
    const { offload, root } = offloadBench()
    const path = join(root, 'sessions/s2/context.jsonl')
    expect(await offload.offloadContext('s2', [])).toMatchObject({ path, size: 0 })
    expect(readdirSync(root)).toEqual([])
  })

  it('appends in one request, whatever is there', async () => {
    const { offload, calls } = offloadBench()
    for (let n = 0; n < 5; n += 1) await offload.offloadContext('s', [said('x')])
    expect(calls.map(({ method }) => method)).toEqual(Array(5).fill('file.append'))
  })

  it('refuses what is no message, with its number, and writes nothing', async () => {
    const { offload, root } = offloadBench()
    const loop: Record<string, unknown> = {}
    loop.self = loop
    for (const bad of ['text', 7, null, undefined, [said('x')], loop, { n: 1n }]) {
      const error = await offload.offloadContext('s', [said('ok'), bad]).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(WorkspaceError)
      expect(error).toMatchObject({ code: 'invalid_argument' })
    }
    expect(readdirSync(root)).toEqual([])
  })
})

describe('ids', () => {
  const ODD = [
    '..',
    '.',
    '../../x',
    '/etc/x',
    'a/b',
    'a\\b',
    'a\0b',
    'a%2Fb',
    '.hidden',
    'ä',
    'x'.repeat(5_000),
    'x'.repeat(5_001),
  ]

  it('never lead out of their folder, and stay apart', async () => {
    const { offload, root, base } = offloadBench()
    for (const id of ODD) {
      await offload.offloadContext(id, [said(id)])
      await offload.offloadToolResult(id, { id, output: id })
    }
    expect(readdirSync(base).sort()).toEqual(['project', 'root'])
    expect(readdirSync(root)).toEqual(['sessions'])
    const folders = readdirSync(join(root, 'sessions'))
    expect(folders).toHaveLength(ODD.length)
    for (const folder of folders) expect(readdirSync(join(root, 'sessions', folder))).toHaveLength(2)
    await expect(offload.offloadContext('', [said('x')])).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(offload.purgeSession('')).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('are one folder each, for any text', async () => {
    const { offload, root } = offloadBench()
    const ids = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 })
    const check = fc.asyncProperty(ids, async id => {
      const { path } = await offload.offloadContext(id, [said('x')])
      const parts = path.slice(root.length + 1).split('/')
      expect(parts).toHaveLength(3)
      expect(parts[0]).toBe('sessions')
      expect(await offload.purgeSession(id)).toBe(true)
    })
    await fc.assert(check, { numRuns: 50 })
  })

  it('follow no link out of the root', async () => {
    const { offload, root, base } = offloadBench()
    mkdirSync(join(base, 'outside/s'), { recursive: true })
    writeFileSync(join(base, 'outside/s/kept'), '')
    symlinkSync(join(base, 'outside'), join(root, 'sessions'))
    const uses = [
      () => offload.offloadContext('s', [said('x')]),
      () => offload.offloadToolResult('s', { id: 'a', output: 'x' }),
      () => offload.list(),
      () => offload.purgeSession('s'),
    ]
    for (const use of uses) await expect(use()).rejects.toMatchObject({ code: 'permission_denied' })
    expect(readdirSync(join(base, 'outside/s'))).toEqual(['kept'])
  })
})

describe('offloadToolResult', () => {
  it('writes what AgentScope writes, and counts taken names', async () => {
    const { offload, root } = offloadBench()
    const link = { type: 'url', url: 'http://127.0.0.1:9/x.png', media_type: 'image/png' }
    const blocks = [{ type: 'text', text: 'second' }, image(), { type: 'data', source: link, name: null }]
    const outputs = ['first text\n', blocks, 'first text\n']
    const names = ['tool_result-call-1.txt', 'tool_result-call-1(1).txt', 'tool_result-call-1(2).txt']
    for (const [index, output] of outputs.entries()) {
      const { path, uri, size } = await offload.offloadToolResult('s1', { type: 'tool_result', id: 'call-1', output })
      expect(path).toBe(join(root, 'sessions/s1', names[index]!))
      expect(decodeURIComponent(uri)).toBe(`workspace:///sessions/s1/${names[index]}`)
      expect(readFileSync(path, 'utf8')).toBe(readFileSync(join(FIXTURE, 'sessions/s1', names[index]!), 'utf8'))
      expect(statSync(path)).toMatchObject({ size })
    }
    expect(readdirSync(join(root, 'data'))).toEqual([PIXEL_NAME])
  })

  it('gives every concurrent call a file of its own', async () => {
    const { offload, root } = offloadBench()
    const call = (n: number) => offload.offloadToolResult('s', { id: 'same', output: `by ${n}` })
    const results = await Promise.all(Array.from({ length: 30 }, (_, n) => call(n)))
    expect(new Set(results.map(({ path }) => path)).size).toBe(30)
    for (const [n, { path }] of results.entries()) expect(readFileSync(path, 'utf8')).toBe(`by ${n}`)
    expect(readdirSync(join(root, 'sessions/s'))).toHaveLength(30)
  })

  it('shows beginning and end of a long one', async () => {
    const { offload } = offloadBench()
    const text = Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join('')
    const { preview, size } = await offload.offloadToolResult('s', { id: 'x', output: text })
    expect(size).toBe(text.length)
    expect(preview.length).toBeLessThan(1_200)
    expect(preview).toMatch(/^line 0\n[\s\S]*characters …\][\s\S]*line 4999\n$/)
    expect((await offload.offloadToolResult('s', { id: 'x', output: 'short' })).preview).toBe('short')
  })

  it('says what is missing', async () => {
    const { offload } = offloadBench()
    for (const bad of ['text', null, { output: 'x' }, { id: 'x' }, { id: '', output: 'x' }]) {
      await expect(offload.offloadToolResult('s', bad)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })
})

describe('offloadDataBlock', () => {
  it('names content by the base64 text, with the extension of its type', async () => {
    const { offload, root } = offloadBench()
    const types = ['image/jpeg', 'application/pdf', 'text/plain', 'audio/wav', 'application/x-fake', 'image/webp', 'video/mp4']
    for (const media_type of types) {
      await offload.offloadDataBlock({ type: 'data', source: { type: 'base64', data: FAKE, media_type } })
    }
    const extensions = ['bin', 'jpg', 'mp4', 'pdf', 'txt', 'webp']
    expect(readdirSync(join(root, 'data')).sort()).toEqual(extensions.map(extension => `${FAKE_HASH}.${extension}`))
    expect(readFileSync(join(root, `data/${FAKE_HASH}.bin`), 'utf8')).toBe('fake')
  })

  it('gives one content one name, however its base64 is wrapped', async () => {
    const { offload, root } = offloadBench()
    const wrapped = PIXEL.replace(/(.{20})/g, '$1\r\n')
    const forUrls = PIXEL.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    const blocks = [PIXEL, wrapped, forUrls, ` ${PIXEL}\n`].map(data => image({ source: png(data) }))
    const blob = {
      path: join(root, 'data', PIXEL_NAME),
      uri: `workspace:///data/${PIXEL_NAME}`,
      size: 69,
      mediaType: 'image/png',
    }
    for (const block of [...blocks, { type: 'image', data: PIXEL, mimeType: 'image/png' }]) {
      expect((await offload.offloadDataBlock(block)).blob).toEqual(blob)
    }
    expect(readdirSync(join(root, 'data'))).toEqual([PIXEL_NAME])
    expect(readFileSync(join(root, 'data', PIXEL_NAME)).toString('base64')).toBe(PIXEL)
  })

  it('writes known content once, and content that was damaged again', async () => {
    const { offload, root, asked } = offloadBench()
    for (let n = 0; n < 3; n += 1) await offload.offloadDataBlock(image())
    expect(asked('file.put')).toHaveLength(1)
    writeFileSync(join(root, 'data', PIXEL_NAME), 'cut')
    await offload.offloadDataBlock(image())
    expect(readFileSync(join(root, 'data', PIXEL_NAME)).toString('base64')).toBe(PIXEL)
  })

  it('gives back a block without data as it is, and refuses broken base64', async () => {
    const { offload, root } = offloadBench()
    const block = { type: 'data', source: { type: 'url', url: 'https://example.com/x.png' } }
    expect((await offload.offloadDataBlock(block)).block).toBe(block)
    const broken = offload.offloadDataBlock(image({ source: png('!!') }))
    await expect(broken).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(readdirSync(root)).toEqual([])
  })
})
