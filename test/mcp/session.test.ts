import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/lib/log.ts'
import type { Manager } from '../../src/manager/manager.ts'
import { PROTOCOL_VERSIONS } from '../../src/mcp/static.ts'
import { type ClientOptions, fakeWorkspace, openClient } from './support.ts'

describe('initialize and the rules before it', () => {
  it.each([...PROTOCOL_VERSIONS])('speaks %s when asked', async version => {
    const client = openClient({ initialize: false })
    const { result } = await client.request('initialize', { protocolVersion: version })
    expect(result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'atelier' },
      capabilities: { tools: { listChanged: true } },
    })
  })

  it('answers an unknown version with the newest', async () => {
    const { result } = await openClient({ initialize: false }).request('initialize', { protocolVersion: '1999-01-01' })
    expect(result).toMatchObject({ protocolVersion: '2025-11-25' })
  })

  it('answers ping, and nothing else, before initialize', async () => {
    const client = openClient({ initialize: false })
    expect(await client.request('ping')).toMatchObject({ result: {} })
    expect(await client.request('tools/list')).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('initialize') },
    })
  })

  it('knows of an initialize that was answered already', async () => {
    const answeredInitialize = { jsonrpc: '2.0' as const, id: 0, method: 'initialize', params: { protocolVersion: '2025-03-26' } }
    const client = openClient({ initialize: false, options: { answeredInitialize } })
    expect(await client.request('tools/list')).toMatchObject({ result: { tools: [{ name: 'Echo' }] } })
    expect(client.sent).toHaveLength(1)
  })
})

describe('messages of odd shapes', () => {
  it.each([
    [42, null, -32600],
    [null, null, -32600],
    [{ id: 3, method: 'x' }, 3, -32600],
    [{ jsonrpc: '2.0', id: 3 }, 3, -32600],
    [{ jsonrpc: '2.0', id: 3, method: 7 }, 3, -32600],
    [{ jsonrpc: '2.0', id: 3, method: 'x', params: [1] }, 3, -32602],
    [{ jsonrpc: '2.0', id: 1.5, method: 'x' }, null, -32600],
    [[], null, -32600],
    [[{ jsonrpc: '2.0', id: 1, method: 'ping' }], null, -32600],
    [{ jsonrpc: '2.0', id: 3, method: 'no/such' }, 3, -32601],
    [{ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { _meta: null, name: 'Echo' } }, 3, -32602],
    [{ jsonrpc: '2.0', id: 3, method: 'tools/call', params: {} }, 3, -32602],
    [{ jsonrpc: '2.0', id: 3, method: 'resources/read' }, 3, -32602],
    [{ jsonrpc: '2.0', id: 3, method: 'logging/setLevel', params: { level: 'loud' } }, 3, -32602],
    [{ jsonrpc: '2.0', id: 3, method: 'completion/complete', params: {} }, 3, -32602],
  ])('%j is refused', async (message, id, code) => {
    const client = openClient()
    client.send(message)
    expect(await client.answer(id)).toMatchObject({ error: { code } })
    expect(await client.request('ping')).toMatchObject({ result: {} })
  })

  it('answers each part of a batch where the protocol has batches', async () => {
    const client = openClient({ initialize: false })
    await client.request('initialize', { protocolVersion: '2025-03-26' })
    client.send([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    ])
    expect(await client.answer(1)).toMatchObject({ result: {} })
    expect(await client.answer(2)).toMatchObject({ result: { tools: [{ name: 'Echo' }] } })
  })
})

describe('tools/call', () => {
  it('answers with text and content, and with facts beside them', async () => {
    const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' }
    const client = openClient({ run: async () => ({ text: 'hi', content: [image], structured: { a: 1, output: 'hi' } }) })
    const content = [{ type: 'text', text: 'hi' }, image]
    const { result } = await client.request('tools/call', { name: 'Echo', arguments: {} })
    expect(result).toEqual({ content, _meta: { 'atelier/result': { a: 1 } } })
    const asked = await client.request('tools/call', { name: 'Echo', arguments: {}, _meta: { 'atelier/structured': true } })
    expect(asked.result).toEqual({ content, structuredContent: { a: 1, output: 'hi' } })
  })

  it('turns whatever a tool throws into an error result', async () => {
    const client = openClient({
      run: async () => {
        throw new Error('boom')
      },
    })
    const { result } = await client.request('tools/call', { name: 'Echo' })
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('boom') }] })
  })

  it('sends output as growing progress before the answer, under the client token', async () => {
    const client = openClient({
      run: async (_name, _args, { onProgress }) => {
        onProgress?.('one ')
        onProgress?.('two ')
        onProgress?.('three')
        return { text: 'done' }
      },
    })
    await client.request('tools/call', { name: 'Echo', _meta: { progressToken: 'tok' } }, 77)
    const progress = client.notifications('notifications/progress').map(({ params }) => params)
    expect(progress.map(params => params?.message).join('')).toBe('one two three')
    expect(progress.every(params => params?.progressToken === 'tok')).toBe(true)
    const counts = progress.map(params => params?.progress as number)
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b))
    const last = client.sent.at(-1)
    expect(last).toMatchObject({ message: { id: 77 }, related: 77 })
    expect(client.sent.filter(({ message }) => 'method' in message).every(({ related }) => related === 77)).toBe(true)
  })

  it('sends no progress where none was asked for', async () => {
    let asked: unknown = 'unset'
    const client = openClient({
      run: async (_name, _args, { onProgress }) => {
        asked = onProgress
        return { text: '' }
      },
    })
    await client.request('tools/call', { name: 'Echo' })
    expect(asked).toBeUndefined()
  })

  it('aborts the call that is cancelled, and answers it no more', async () => {
    const aborted: string[] = []
    const begun: string[] = []
    const client = openClient({
      run: (name, _args, { signal }) =>
        new Promise((_resolve, reject) => {
          begun.push(name)
          signal.addEventListener('abort', () => {
            aborted.push(name)
            reject(signal.reason)
          })
        }),
    })
    client.send({ jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'slow' } })
    client.send({ jsonrpc: '2.0', id: '', method: 'tools/call', params: { name: 'other' } })
    await expect.poll(() => begun).toEqual(['slow', 'other'])
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } })
    client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'never' } })
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await expect.poll(() => aborted).toEqual(['slow'])
    expect(client.session.inFlight).toBe(1)
    await client.session.close()
    expect(aborted).toEqual(['slow', 'other'])
    expect(begun).toEqual(['slow', 'other'])
    expect(client.sent.map(({ message }) => ('id' in message ? message.id : message.method))).toEqual(['init'])
  })

  it('tells a client that asked for progress what its workspace waits for', async () => {
    const manager: Partial<Manager> = {
      acquire: async (_scope, request) => {
        request?.onProgress?.('Image x is pulled.')
        return { workspace: fakeWorkspace({ id: 'w1' }), release: () => {}, [Symbol.dispose]: () => {} }
      },
    }
    const run: ClientOptions['run'] = async (_name, _args, context) => ({ text: (await context.workspace()).id })
    const client = openClient({ manager, run })
    await client.request('tools/call', { name: 'Echo', _meta: { progressToken: 7 } })
    const message = 'Image x is pulled.\n'
    expect(client.notifications('notifications/progress')).toMatchObject([
      { params: { progressToken: 7, progress: message.length, message } },
    ])
    await client.request('tools/call', { name: 'Echo' })
    expect(client.notifications('notifications/progress')).toHaveLength(1)
  })

  it('holds one lease a call, gives it back, adds notices, and forgets the session at its end', async () => {
    const log: string[] = []
    const workspace = fakeWorkspace({
      id: 'w1',
      takeNotices: () => ['The container was restarted.'],
      forgetSession: async session => void log.push(`forget ${session.length}`),
    })
    const manager: Partial<Manager> = {
      acquire: async (scope, request) => {
        log.push(`acquire ${scope.agent} ${request?.ref}`)
        const release = () => void log.push('release')
        return { workspace, release, [Symbol.dispose]: release }
      },
      opened: () => workspace,
    }
    const keys = new Set<string>()
    const client = openClient({
      manager,
      run: async (_name, _args, context) => {
        keys.add(context.session)
        await Promise.all([context.workspace(), context.workspace()])
        log.push('run')
        return { text: 'done' }
      },
    })
    const params = { name: 'Echo', arguments: { workspace: 'mine' }, _meta: { 'atelier/agent': 'bob' } }
    const { result } = await client.request('tools/call', params)
    expect(result).toEqual({ content: [{ type: 'text', text: 'done\n\nNote: The container was restarted.' }] })
    expect(client.notifications('notifications/message')).toMatchObject([
      { params: { level: 'warning', data: 'The container was restarted.' } },
    ])
    await client.request('logging/setLevel', { level: 'error' })
    await client.request('tools/call', params)
    expect(client.notifications('notifications/message')).toHaveLength(1)
    await client.session.close()
    await client.session.close()
    expect(log).toEqual(['acquire bob mine', 'run', 'release', 'acquire bob mine', 'run', 'release', 'forget 36'])
    expect(keys.size).toBe(1)
  })

  it('logs one line a call, without its arguments', async () => {
    const lines: object[] = []
    const logger = { ...silentLogger, info: (fields: object) => void lines.push(fields) }
    const client = openClient({ logger })
    await client.request('tools/call', { name: 'Echo', arguments: { secret: 'hunter2' } })
    await vi.waitFor(() => expect(lines).toEqual([{ tool: 'Echo', workspace: undefined, ms: expect.any(Number), outcome: 'ok' }]))
  })

  it('serves calls side by side', async () => {
    const client = openClient({
      run: async name => {
        await sleep(name === 'slow' ? 60 : 0)
        return { text: name }
      },
    })
    const [slow, fast] = [client.request('tools/call', { name: 'slow' }), client.request('tools/call', { name: 'fast' })]
    expect(await Promise.race([slow, fast])).toMatchObject({ result: { content: [{ text: 'fast' }] } })
    expect(await slow).toMatchObject({ result: { content: [{ text: 'slow' }] } })
  })
})
