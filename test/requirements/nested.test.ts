import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CreateMessageRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { rawStdio } from '../support/raw-stdio.ts'
import { placed } from '../support/reference-places.ts'
import { type Case, verifies } from '../support/verifies.ts'

const LONG = 'a_tool_whose_name_is_much_longer_than_any_client_would_take'
const START_MS = 60_000

const names = async ({ client }: TestClient) => (await client.listTools()).tools.map(({ name }) => name)
const reference = ({ backend }: Case, client: TestClient) => placed(backend, (name, args) => client.text(name, args))

async function add(test: Case, name: string, more: Record<string, unknown> = {}, client = test.client): Promise<string> {
  return client.text('mcp_add', { name, ...(await reference(test, client)), ...more })
}

/** Opens a client on a server whose configuration declares these. */
async function configured({ world, connect }: Case, mcpServers: Record<string, object>): Promise<TestClient> {
  const file = join(world.root, 'nested.json')
  writeFileSync(file, JSON.stringify({ mcpServers }))
  return connect({ env: { ATELIER_CONFIG: file } })
}

const SLEEPER = { command: 'sleep', args: ['600'] }
const BROKEN = { command: 'sh', args: ['-c', 'echo no-such-database >&2; exit 3'] }

verifies('nested.add', async test => {
  const { client } = test
  let changed = 0
  client.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changed += 1
  })
  const answer = await add(test, 'ref')
  expect(answer).toContain('mcp__ref__count')
  await until(() => changed > 0, 'tools/list_changed')
  expect(await names(client)).toContain('mcp__ref__count')
  expect(await client.text('mcp__ref__count')).toBe('1')
  expect(await client.text('mcp_list')).toMatch(/^ref: ready, \d+ tools/)
  expect(await client.failure('mcp_add', { name: 'ref', command: 'true' })).toContain('ref')
})

verifies('nested.add.refused', async ({ client }) => {
  const text = await client.failure('mcp_add', { name: 'broken', ...BROKEN })
  expect(text).toContain('broken')
  expect(text).toContain('no-such-database')
  expect(await client.text('mcp_list')).toContain('No MCP servers')
  expect(await client.failure('mcp_add', { name: 'nothing' })).toMatch(/command|url/)
})

verifies('nested.remove', async test => {
  const { client, processes } = test
  await add(test, 'ref')
  const running = () => processes().filter(({ command }) => command.includes('reference-server/main.mjs'))
  expect(running().length).toBeGreaterThan(0)
  expect(await client.text('workspace_status')).toMatch(/^MCP servers: 1 running$/m)
  expect(await client.text('mcp_remove', { name: 'ref' })).toContain('ref')
  await until(() => running().length === 0, 'the server ends')
  expect(await client.text('workspace_status')).toMatch(/^MCP servers: 0 running$/m)
  expect((await names(client)).filter(name => name.startsWith('mcp__'))).toEqual([])
  expect(await client.failure('mcp__ref__count')).toContain('mcp__ref__count')
  expect(await client.failure('mcp_remove', { name: 'ref' })).toContain('ref')
})

verifies('nested.call', async test => {
  const { client } = test
  await add(test, 'ref', { expose: 'hidden' })
  expect((await names(client)).some(name => name.startsWith('mcp__'))).toBe(false)
  const progress: string[] = []
  const call = { server: 'ref', tool: 'echo', arguments: { deep: [{ kept: null }] } }
  expect(JSON.parse(await client.text('mcp_call', call))).toEqual(call.arguments)
  const stepped = { server: 'ref', tool: 'test_tool_with_progress' }
  await client.text('mcp_call', stepped, { onProgress: text => progress.push(text) })
  // The SDK's client may lose what comes right before the answer.
  expect(progress.length).toBeGreaterThanOrEqual(2)
  expect(await client.text('mcp_list', { server: 'ref' })).toContain('"additionalProperties":true')
  expect(await client.failure('mcp_call', { server: 'reff', tool: 'echo' })).toMatch(/reff.*Did you mean "ref"/s)
  expect(await client.failure('mcp_call', { server: 'ref', tool: 'echo', argument: {} })).toContain('argument')
})

verifies('nested.names', async test => {
  const { client } = test
  await add(test, 'one')
  await add(test, 'two')
  const shown = (await names(client)).filter(name => name.startsWith('mcp__'))
  for (const name of shown) expect(name).toMatch(/^[A-Za-z0-9_-]{1,48}$/)
  expect(new Set(shown).size).toBe(shown.length)
  await client.text('mcp__one__count')
  expect(await client.text('mcp__one__count')).toBe('2')
  expect(await client.text('mcp__two__count')).toBe('1')
  const odd = shown.filter(name => /^mcp__one__(dotted|a_tool_whose)/.test(name))
  expect(odd).toHaveLength(2)
  for (const name of odd) expect(await client.text(name)).toMatch(/^(odd|long)$/)
  expect(await client.text('mcp_call', { server: 'two', tool: LONG })).toBe('long')
})

verifies('nested.restart', async test => {
  const { client, connect } = test
  await add(test, 'ref')
  const before = await names(client)
  await client.text('mcp__ref__count')
  await client.close()
  const again = await connect()
  const started = Date.now()
  const shown = await names(again)
  expect(shown).toEqual(before)
  expect(Date.now() - started).toBeLessThan(5_000)
  expect(await again.text('mcp__ref__count')).toMatch(/^[12]$/)
  expect(await again.text('mcp_list')).toMatch(/^ref: ready/)
})

verifies('nested.start-list', async test => {
  await add(test, 'ref')
  await test.client.close()
  const options = { args: ['--directory', test.dir] }
  const learning = rawStdio(test.world, options)
  await learning.initialize()
  learning.send({ id: 1, method: 'tools/call', params: { name: 'mcp__ref__count', arguments: {} } })
  await learning.answer(1, START_MS)
  learning.child.stdin?.end()
  await learning.ended
  const raw = rawStdio(test.world, options)
  raw.send({
    id: 'i',
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'r', version: '1' } },
  })
  raw.send({ id: 2, method: 'tools/list' })
  const { result } = await raw.answer(2)
  expect(JSON.stringify(result)).toContain('mcp__ref__count')
  raw.child.stdin?.end()
  await raw.ended
})

verifies('nested.broken', async test => {
  const client = await configured(test, { hangs: SLEEPER, broken: BROKEN, ref: await reference(test, test.client) })
  const started = Date.now()
  expect(await names(client)).toContain('Bash')
  expect(Date.now() - started).toBeLessThan(5_000)
  await client.text('Bash', { command: 'true' })
  await until(async () => (await names(client)).includes('mcp__ref__count'), 'the tools of the good server', START_MS)
  expect(await client.text('mcp__ref__count')).toBe('1')
  await until(async () => /broken: failed/.test(await client.text('mcp_list')), 'the broken server failed', START_MS)
  const list = await client.text('mcp_list')
  expect(list).toMatch(/broken: failed: .*\n[\s\S]*no-such-database/)
  expect(list).toContain('hangs: starting')
})

verifies('nested.expose', async test => {
  const { client } = test
  await add(test, 'first', { expose: 'bare' })
  await add(test, 'second', { expose: 'bare' })
  const shown = await names(client)
  expect(shown.filter(name => name === 'count')).toHaveLength(1)
  expect(shown).toContain('mcp__second__count')
  expect(await client.text('count')).toBe('1')
  expect(await client.text('mcp__second__count')).toBe('1')
  expect(await client.text('count')).toBe('2')
})

verifies('nested.environment', async test => {
  const { client } = test
  const program = `const {spawnSync}=require('child_process');const rl=require('readline').createInterface({input:process.stdin});
    rl.on('line',l=>{const m=JSON.parse(l);if(m.id===undefined)return;const r={initialize:{protocolVersion:'2025-11-25',capabilities:{tools:{}},serverInfo:{name:'e',version:'1'}},'tools/list':{tools:[{name:'where',inputSchema:{type:'object'}}]},'tools/call':{content:[{type:'text',text:[process.cwd(),process.env.PATH,process.env.HOME,process.env.MINE].join('\\n')}]}}[m.method]??{};console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:r}))})`
  const command = test.backend === 'local' ? process.execPath : 'node'
  await client.text('mcp_add', { name: 'env', command, args: ['-e', program], env: { MINE: 'kept' } })
  const where = (await client.text('mcp__env__where')).split('\n')
  const bash = (await client.text('Bash', { command: 'pwd; echo "$PATH"; echo "$HOME"' })).split('\n')
  expect(where.slice(0, 3)).toEqual(bash.slice(0, 3))
  expect(where[3]).toBe('kept')
})

verifies('nested.refusal', async test => {
  await add(test, 'ref')
  const { structuredContent } = await test.client.call('mcp__ref__ask', { method: 'sampling/createMessage', params: {} })
  expect(structuredContent).toMatchObject({ code: -32601, message: expect.stringMatching(/atelier-tests .*sampling/) })
})

verifies('nested.instructions', async test => {
  const { client } = test
  await add(test, 'ref')
  const instructions = 'Use the tools of the reference server for tests only.'
  expect(await client.text('mcp_list')).toContain(instructions)
  const { messages } = await client.client.getPrompt({ name: 'workspace-instructions' })
  expect(JSON.stringify(messages)).toContain(instructions)
})

verifies('nested.clients', async test => {
  const { client, connect } = test
  await add(test, 'ref')
  const sampling = { client: { capabilities: { sampling: {} } } }
  const server = client.http
  const others = await Promise.all(['one', 'two'].map(() => connect({ ...sampling, ...(server && { server }) })))
  for (const [index, other] of others.entries()) {
    other.client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      role: 'assistant',
      content: { type: 'text', text: `by client ${index}` },
      model: 'm',
    }))
  }
  const turn = (index: number) => others[index % 2] as TestClient
  const echoed = Array.from({ length: 12 }, (_, index) => turn(index).text('mcp__ref__echo', { index }))
  for (const [index, text] of (await Promise.all(echoed)).entries()) expect(JSON.parse(text)).toEqual({ index })
  for (let index = 0; index < 6; index += 1) {
    expect(await turn(index).text('mcp__ref__test_sampling', { prompt: String(index) })).toContain(`by client ${index % 2}`)
  }
})

verifies('nested.current', async test => {
  const { client } = test
  await add(test, 'ref')
  await client.text('workspace_create', { name: 'other' })
  expect((await names(client)).some(name => name.startsWith('mcp__'))).toBe(false)
  expect(await client.text('mcp_list')).toContain('No MCP servers')
  await client.text('workspace_use', { workspace: 'default' })
  expect(await names(client)).toContain('mcp__ref__count')
  await client.text('workspace_delete', { workspace: 'other', confirm: true })
})
