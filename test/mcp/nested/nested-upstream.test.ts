import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../../src/lib/errors.ts'
import type { NestedEvents, NestedMessage, NestedServerView } from '../../../src/workspace/nested-servers/port.ts'
import { fakeWorkspace, openClient } from '../support.ts'

const VIEW: NestedServerView = {
  name: 's',
  expose: 'prefixed',
  state: 'ready',
  lists: { tools: [{ name: 't' }], resources: [{ uri: 'x://1' }] },
  initialize: { capabilities: { tools: {}, logging: {}, resources: {} } },
  callTimeoutMs: 1_000,
}

/** A session on a workspace with one server, which the test plays itself. */
function setUp(capabilities: Record<string, unknown> = {}, played: { view?: NestedServerView; skills?: string[] } = {}) {
  const sent: NestedMessage[] = []
  let events: NestedEvents | undefined
  const nested = {
    list: async () => [],
    attach: (_scope: unknown, given: NestedEvents) => {
      events = given
      const send = (_server: string, message: NestedMessage) => void sent.push(message)
      const servers = () => [played.view ?? VIEW]
      return { servers, ready: async () => {}, refresh: async () => [], ensure: async () => {}, send, close: () => {} }
    },
  }
  const place = (name: string) => ({ dir: `/s/${name}`, body: `do ${name}`, frontmatter: {} })
  const found = (played.skills ?? []).map(name => ({ name, description: 'd', ...place(name) }))
  const skills = { list: async () => ({ skills: found, skipped: [] }), load: async () => found[0] }
  const workspace = fakeWorkspace({ id: 'w', nested: nested as never, skills: skills as never })
  const release = (): void => {}
  const manager = {
    defaultId: async () => 'w',
    opened: () => workspace,
    acquire: async () => ({ workspace, release, [Symbol.dispose]: release }),
  }
  const client = openClient({ manager: manager as never, initialize: false })
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'tester', version: '1' } }
  client.send({ jsonrpc: '2.0', id: 'i', method: 'initialize', params })
  const say = (message: object) => events?.message('s', message as NestedMessage)
  const requests = () =>
    sent.filter(message => 'method' in message && 'id' in message) as { id: number; method: string; params: object }[]
  const arrives = (count: number) => expect.poll(() => requests().length).toBe(count)
  return { client, sent, say, requests, arrives }
}

describe('the nested servers of a session', () => {
  it('get a call under their own name for it, and answer it as it is', async () => {
    const { client, requests, say, arrives } = setUp()
    client.send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'mcp__s__t', odd: 1 } })
    await arrives(1)
    expect(requests()[0]?.params).toEqual({ name: 't', odd: 1 })
    const result = { content: [{ type: 'example.com/unknown' }], kept: null }
    say({ jsonrpc: '2.0', id: requests()[0]?.id, result })
    expect(await client.answer('c')).toEqual({ jsonrpc: '2.0', id: 'c', result })
  })

  it('leave the bare name of a prompt to a skill, and keep their own prefix', async () => {
    const lists = { prompts: [{ name: 'clash' }, { name: 'free' }] }
    const { client, requests, say, arrives } = setUp({}, { view: { ...VIEW, expose: 'bare', lists }, skills: ['clash'] })
    await client.request('tools/call', { name: 'Echo' })
    const params = (name: string) => ({ name, arguments: {} })
    expect((await client.request('prompts/get', params('clash'))).result).toMatchObject({
      messages: [{ content: { text: expect.stringContaining('do clash') } }],
    })
    const { result } = await client.request('prompts/list')
    const shown = (result as { prompts: { name: string }[] }).prompts.map(({ name }) => name)
    expect(shown).toEqual(['workspace-instructions', 'clash', 'mcp__s__clash', 'free'])
    for (const [index, name] of ['mcp__s__clash', 'free'].entries()) {
      client.send({ jsonrpc: '2.0', id: name, method: 'prompts/get', params: params(name) })
      await arrives(index + 1)
      say({ jsonrpc: '2.0', id: requests()[index]?.id, result: { from: 's' } })
      expect((await client.answer(name)).result).toEqual({ from: 's' })
    }
    expect(requests().map(request => (request.params as { name: string }).name)).toEqual(['clash', 'free'])
  })

  it('tell progress before the answer, in the same turn', async () => {
    const { client, requests, say, arrives } = setUp()
    const params = { name: 'mcp__s__t', _meta: { progressToken: '' } }
    client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    await arrives(1)
    const from = client.sent.length
    const { id } = requests()[0] ?? { id: 0 }
    say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1, odd: 2 } })
    say({ jsonrpc: '2.0', id, result: {} })
    expect(client.sent.slice(from)).toEqual([
      {
        message: { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: '', progress: 1, odd: 2 } },
        related: 1,
      },
      { message: { jsonrpc: '2.0', id: 1, result: {} }, related: 1 },
    ])
  })

  it('ask the client on the stream of the call in flight, and get its answer under their own id', async () => {
    const { client, sent, say, arrives } = setUp({ roots: {} })
    client.send({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'mcp__s__t' } })
    await arrives(1)
    say({ jsonrpc: '2.0', id: 'theirs', method: 'roots/list' })
    const asked = client.sent.at(-1)
    expect(asked).toMatchObject({ message: { method: 'roots/list' }, related: 5 })
    const { id = 0 } = (asked?.message ?? {}) as { id?: number }
    client.send({ jsonrpc: '2.0', id, result: { roots: [] } })
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'theirs', result: { roots: [] } })
  })

  it('are refused what the client can not do', async () => {
    const { client, sent, say, arrives } = setUp()
    client.send({ jsonrpc: '2.0', id: 5, method: 'resources/read', params: { uri: 'x://1' } })
    await arrives(1)
    say({ jsonrpc: '2.0', id: 0, method: 'sampling/createMessage', params: {} })
    expect(sent.at(-1)).toMatchObject({ id: 0, error: { code: -32601, message: expect.stringContaining('tester') } })
  })

  it('are told of a cancelled call, and answer it no more', async () => {
    const { client, requests, sent, say, arrives } = setUp()
    client.send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'mcp__s__t' } })
    await arrives(1)
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9, reason: 'r' } })
    const { id } = requests()[0] ?? { id: 0 }
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'r' } })
    const from = client.sent.length
    say({ jsonrpc: '2.0', id, result: {} })
    expect(client.sent.length).toBe(from)
  })

  it('are asked for the log level that the client wants, and their messages pass whatever it is', async () => {
    const { client, requests, say, arrives } = setUp()
    await client.request('logging/setLevel', { level: 'error' })
    client.send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'mcp__s__t' } })
    await arrives(2)
    expect(requests().find(({ method }) => method === 'logging/setLevel')?.params).toEqual({ level: 'error' })
    say({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'debug', data: 1 } })
    expect(client.notifications('notifications/message')).toHaveLength(1)
  })

  it('answer with the reason where the workspace can not be opened', async () => {
    const acquire = async () => {
      throw new WorkspaceError('unavailable', 'No engine is running.')
    }
    const manager = { defaultId: async () => 'w', opened: () => undefined, acquire }
    const client = openClient({ manager: manager as never })
    const called = await client.request('tools/call', { name: 'mcp__s__t' })
    expect(called.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('No engine is running.') }] })
    const read = await client.request('resources/read', { uri: 'x://1' })
    expect(read.error).toMatchObject({ message: expect.stringContaining('No engine is running.') })
  })
})
