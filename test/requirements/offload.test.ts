import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { type TestClient, textOf } from '../support/client.ts'
import { fileInside, modeInside, namesInside } from '../support/inside.ts'
import { type Case, verifies } from '../support/verifies.ts'

const PIXEL = readFileSync(join(import.meta.dirname, '../fixtures/agentscope/pixel.png.b64'), 'utf8').trim()
const PIXEL_NAME = '889ecdd36dcef61e60ab84e0f71cfe63267c20eca2946f379c862712c22b6cd9.png'

const message = (content: unknown) => ({ role: 'user', content })
/** Prints more than the limit below. */
const LONG = { command: 'seq 1 2000' }
const SMALL_LIMIT = { args: ['--offload-chars', '3000', '--output-chars', '200000'] }

interface Kept {
  path: string
  uri: string
  text: string
}

function keptIn(result: CallToolResult): Kept {
  expect(result.isError ?? false, textOf(result)).toBe(false)
  const text = textOf(result)
  const link = result.content.find(block => block.type === 'resource_link')
  const path = /(\/\S+\/(?:context\.jsonl|tool_result-\S+?\.txt))/.exec(text)?.[1]
  if (link === undefined || path === undefined) throw new Error(`No path or link in ${JSON.stringify(result.content)}`)
  expect(text).toContain(link.uri)
  return { path, uri: link.uri, text }
}

/** Calls a tool for a session, as a client names it in `_meta`. */
async function inSession(client: TestClient, session: string, call: { name: string; arguments: Record<string, unknown> }) {
  return (await client.client.callTool({ ...call, _meta: { 'atelier/session': session } })) as CallToolResult
}

/** Backends that work in a directory of the user's. */
const OWN_DIRECTORY = new Set(['local', 'docker'])

const offload = async (client: TestClient, messages: unknown[]) => keptIn(await client.call('offload_context', { messages }))

verifies('offload.context', async test => {
  const { client, workdir, backend } = test
  const first = await offload(client, [message('ONE'), message([{ type: 'text', text: 'zwö' }])])
  const { path, uri } = await offload(client, [message('THREE')])
  expect(path).toBe(first.path)
  // Where Atelier made the directory, its own folders lie in it.
  expect(path.startsWith(workdir)).toBe(!OWN_DIRECTORY.has(backend))
  expect(first.text).toContain('user: ONE')
  const kept = await fileInside(test, client, path)
  const lines = kept.trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line).content)).toEqual(['ONE', [{ type: 'text', text: 'zwö' }], 'THREE'])
  expect(await client.text('Read', { file_path: path })).toContain('THREE')
  const { contents } = await client.client.readResource({ uri })
  expect(contents[0]).toMatchObject({ text: kept })
  const part = await client.client.readResource({ uri: `${uri}?lines=3-3` })
  expect(part.contents[0]).toMatchObject({ text: `${lines[2]}\n` })
})

verifies('offload.context.concurrent', async test => {
  const other = await test.connect(test.transport === 'http' ? { server: test.client.http! } : {})
  const call = (client: TestClient, who: string, n: number) => {
    const messages = [0, 1].map(part => ({ role: 'user', who, n, part, content: 'x'.repeat(2_000) }))
    return inSession(client, 'shared', { name: 'offload_context', arguments: { messages } })
  }
  const calls = Array.from({ length: 40 }, (_, n) => [call(test.client, 'a', n), call(other, 'b', n)]).flat()
  const paths = new Set((await Promise.all(calls)).map(result => keptIn(result).path))
  expect(paths.size).toBe(1)
  const lines = (await fileInside(test, test.client, [...paths][0]!)).trimEnd().split('\n')
  const seen = lines.map(line => JSON.parse(line) as { who: string; n: number; part: number })
  expect(new Set(seen.map(({ who, n, part }) => `${who}${n}.${part}`)).size).toBe(160)
  for (let at = 0; at < seen.length; at += 2) expect(seen[at + 1]).toMatchObject({ ...seen[at], part: 1 })
})

verifies('offload.context.cost', async ({ client }) => {
  const batch = (size: number) => Array.from({ length: size }, (_, n) => message(`${n} ${'x'.repeat(400)}`))
  const timed = async () => {
    const times: number[] = []
    for (let n = 0; n < 40; n += 1) {
      const started = performance.now()
      await offload(client, batch(1))
      times.push(performance.now() - started)
    }
    return times.sort((a, b) => a - b)[20]!
  }
  await timed()
  const before = await timed()
  for (let n = 0; n < 20; n += 1) await offload(client, batch(500))
  const after = await timed()
  expect(after, `${before} ms before, ${after} ms after`).toBeLessThan(Math.max(before * 2, before + 5))
})

verifies('offload.ids', async test => {
  const { client, world, dir, backend } = test
  const odd = ['..', '../../x', '/etc/x', 'a/../../../b', '.', '%2e%2e', 'a\nb']
  const { path } = await offload(client, [message('x')])
  const sessions = dirname(dirname(path))
  const before = await namesInside(test, client, dirname(sessions))
  for (const id of odd) {
    const call = { name: 'offload_tool_result', arguments: { id, result: 'text' } }
    // A scope with control characters is refused before anything is kept.
    const kept = keptIn(await inSession(client, id.replace('\n', '-'), call))
    expect(kept.path.startsWith(sessions + sep)).toBe(true)
    expect(dirname(dirname(kept.path))).toBe(sessions)
  }
  expect(await namesInside(test, client, sessions)).toHaveLength(odd.length + 1)
  expect(await namesInside(test, client, dirname(sessions))).toEqual(before)
  if (OWN_DIRECTORY.has(backend)) expect(readdirSync(dir)).toEqual([])
  expect(existsSync(join(world.root, 'x'))).toBe(false)
})

verifies('offload.data', async test => {
  const { client } = test
  const wrapped = PIXEL.replace(/(.{30})/g, '$1\n')
  const { path, text } = await offload(client, [
    message([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }]),
    message([{ type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }]),
    message([{ type: 'image', data: wrapped, mimeType: 'image/png' }]),
    message([{ type: 'file', data: PIXEL, mediaType: 'image/png' }]),
  ])
  expect(text).toContain('1 data block')
  const lines = (await fileInside(test, client, path)).trimEnd().split('\n')
  const uri = `workspace:///data/${PIXEL_NAME}`
  for (const line of lines) expect(line).toContain(uri)
  expect(await namesInside(test, client, join(dirname(path), '../../data'))).toEqual([PIXEL_NAME])
  const { contents } = await client.client.readResource({ uri })
  expect(contents[0]).toMatchObject({ mimeType: 'image/png', blob: PIXEL })
})

verifies('offload.result', async test => {
  const { client } = test
  const result = `first\n${'filler line\n'.repeat(1_000)}needle\n${'filler line\n'.repeat(1_000)}last`
  const call = () => client.call('offload_tool_result', { id: 'call-1', result })
  const { path, uri, text } = keptIn(await call())
  expect(path).toMatch(/\/tool_result-call-1\.txt$/)
  expect(text).toMatch(/first[\s\S]*characters[\s\S]*last/)
  expect(text.length).toBeLessThan(2_000)
  expect(await fileInside(test, client, path)).toBe(result)
  expect(keptIn(await call()).path).toMatch(/\/tool_result-call-1\(1\)\.txt$/)
  expect(await client.text('Grep', { pattern: 'needle', path, output_mode: 'content' })).toContain('1002')
  const { contents } = await client.client.readResource({ uri: `${uri}?lines=1002-1002` })
  expect(contents[0]).toMatchObject({ text: 'needle\n' })
})

verifies('offload.automatic', async test => {
  const client = await test.connect(SMALL_LIMIT)
  const whole = Array.from({ length: 2_000 }, (_, n) => n + 1).join('\n')
  const { path, uri, text } = keptIn(await client.call('Bash', LONG))
  expect(text).toMatch(/^1\n2\n3\n/)
  expect(text).toMatch(/1999\n2000\n\[exit code 0, after [\d.]+ m?s\]\s*$/)
  expect(text.length).toBeLessThan(3_000)
  const kept = await fileInside(test, client, path)
  expect(kept.replace(/\n\[exit code 0, after [\d.]+ m?s\]$/, '')).toBe(whole)
  expect(await client.text('Read', { file_path: path, offset: 1_000, limit: 1 })).toContain('1000')
  const { contents } = await client.client.readResource({ uri })
  expect(contents[0]).toMatchObject({ text: kept })
  // What is a part of a file already is not moved again.
  const read = await client.call('Read', { file_path: path })
  expect(textOf(read)).toContain('1234')
  expect(read.content).toHaveLength(1)
})

verifies('offload.automatic.parallel', async test => {
  const client = await test.connect(SMALL_LIMIT)
  const calls = Array.from({ length: 8 }, (_, n) => client.call('Bash', { command: `echo call ${n}; seq 1 2000` }))
  const kept = (await Promise.all(calls)).map(keptIn)
  expect(new Set(kept.map(({ path }) => path)).size).toBe(8)
  for (const [n, { path }] of kept.entries()) expect(await fileInside(test, client, path)).toMatch(new RegExp(`^call ${n}\n`))
})

verifies('offload.automatic.off', async test => {
  const isWhole = (result: CallToolResult) => {
    expect(result.content).toHaveLength(1)
    expect(textOf(result)).toContain('\n1234\n')
  }
  const off = await test.connect({ args: ['--offload-chars', '0', '--output-chars', '200000'] })
  isWhole(await off.call('Bash', LONG))
  const limited = await test.connect(SMALL_LIMIT)
  const call = { name: 'Bash', arguments: LONG, _meta: { 'atelier/offload': false } }
  isWhole((await limited.client.callTool(call)) as CallToolResult)
  expect((await limited.call('Bash', LONG)).content.length).toBeGreaterThan(1)
  const capabilities = { experimental: { 'atelier/large-results': {} } }
  const able = await test.connect({ ...SMALL_LIMIT, client: { capabilities } })
  isWhole(await able.call('Bash', LONG))
})

verifies('offload.sessions', async (test: Case) => {
  const call = { name: 'offload_context', arguments: { messages: [message('x')] } }
  const named = keptIn(await inSession(test.client, 'mine', call)).path
  const other = await test.connect()
  expect(keptIn(await inSession(other, 'mine', call)).path).toBe(named)
  expect(named).toMatch(/\/sessions\/mine\/context\.jsonl$/)
  const unnamed = await Promise.all([test.client, other].map(client => offload(client, [message('x')])))
  expect(new Set([named, ...unnamed.map(({ path }) => path)]).size).toBe(3)
})

verifies('offload.modes', async test => {
  const { client } = test
  const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }
  const { path } = await offload(client, [message([image])])
  const result = keptIn(await client.call('offload_tool_result', { id: 'a', result: 'text' }))
  const data = join(dirname(path), '../../data', PIXEL_NAME)
  for (const file of [path, result.path, data]) expect(await modeInside(test, client, file), file).toBe('600')
})

/** A server whose tools give large results, one of them by its schema. */
const LARGE_SERVER = `
const rows = Array.from({ length: 2000 }, (_, n) => n + 1)
const text = { type: 'text', text: rows.join('\\n') }
const tools = ['plain', 'structured', 'promised'].map(name => ({ name, inputSchema: { type: 'object' } }))
tools[2].outputSchema = { type: 'object', properties: { rows: { type: 'array', items: { type: 'integer' } } } }
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'large', version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }) => ({ content: [text], _meta: { kept: name }, ...(name !== 'plain' && { structuredContent: { rows } }) }),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }))
})`

verifies('offload.nested', async test => {
  const client = await test.connect(SMALL_LIMIT)
  await client.text('mcp_add', { name: 'large', command: 'node', args: ['-e', LARGE_SERVER] })
  await client.client.listTools()
  const called = async (tool: string) => client.call(`mcp__large__${tool}`)
  const plain = await called('plain')
  const { path, text } = keptIn(plain)
  expect(plain._meta).toEqual({ kept: 'plain' })
  expect(text).toMatch(/^1\n2\n/)
  expect(text.length).toBeLessThan(3_000)
  expect(await fileInside(test, client, path)).toMatch(/\n1234\n/)
  const structured = await called('structured')
  expect(structured.structuredContent).toBeUndefined()
  expect(await fileInside(test, client, keptIn(structured).path)).toContain('"rows"')
  const promised = await called('promised')
  expect(promised.structuredContent).toMatchObject({ rows: expect.arrayContaining([1234]) })
  expect(keptIn(promised).text.length).toBeLessThan(3_000)
  const through = await client.call('mcp_call', { server: 'large', tool: 'promised', arguments: {} })
  expect(through.structuredContent).toBeUndefined()
  expect(keptIn(through).path).toContain('tool_result-promised-')
})

verifies('offload.other-workspace', async test => {
  const client = await test.connect(SMALL_LIMIT)
  await client.text('Bash', { command: 'true' })
  await client.text('workspace_create', { name: 'other' })
  await client.text('workspace_use', { workspace: 'default' })
  const kept = [
    await client.call('offload_tool_result', { id: 'a', result: 'in the other', workspace: 'other' }),
    await client.call('Bash', { ...LONG, workspace: 'other' }),
  ]
  await client.text('workspace_use', { workspace: 'other' })
  for (const { path, uri } of kept.map(keptIn)) {
    expect(uri).toMatch(/^workspace:\/\/[^/]+\/sessions\/.*\?root$/)
    const { contents } = await client.client.readResource({ uri })
    expect(contents[0]).toMatchObject({ text: await fileInside(test, client, path) })
  }
})
