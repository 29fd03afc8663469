import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import type { TestClient } from '../support/client.ts'
import { createFakeHttpServer } from '../support/fake-http-server.ts'
import { fake, running } from '../support/fake-server.ts'
import { until } from '../support/processes.ts'
import { type Case, verifies } from '../support/verifies.ts'

const MIB = 1024 * 1024
const START_MS = 60_000

const nestedNames = async ({ client }: TestClient) =>
  (await client.listTools()).tools.map(({ name }) => name).filter(name => name.startsWith('mcp__'))

verifies('nested.many', async test => {
  const mcpServers: Record<string, object> = { hangs: { command: 'sleep', args: ['600'] } }
  for (let index = 0; index < 3; index += 1) mcpServers[`broken${index}`] = { command: 'sh', args: ['-c', 'exit 3'] }
  for (let index = 0; index < 46; index += 1) mcpServers[`good${index}`] = fake(test, { tools: ['count'] })
  const file = join(test.world.root, 'nested.json')
  writeFileSync(file, JSON.stringify({ mcpServers }))
  const options = { env: { ATELIER_CONFIG: file } }
  await test.client.close()
  const learning = await test.connect(options)
  await learning.text('Bash', { command: 'true' })
  await until(async () => (await nestedNames(learning)).length === 46, 'the tools of all good servers', START_MS)
  await learning.close()
  const client = await test.connect(options)
  const started = Date.now()
  const names = await nestedNames(client)
  expect(Date.now() - started).toBeLessThan(5_000)
  expect(names).toHaveLength(46)
  for (const text of await Promise.all(names.map(name => client.text(name)))) expect(text).toMatch(/^[12]$/)
  const list = await client.text('mcp_list')
  expect(list.match(/^broken\d: failed/gm)).toHaveLength(3)
  expect(list.match(/^good\d+: ready/gm)).toHaveLength(46)
  expect(list).toContain('hangs: starting')
})

verifies('nested.scopes', async test => {
  await test.client.close()
  const agent = (name: string) => test.connect({ args: ['--agent', name] })
  const [alice, bob] = [await agent('alice'), await agent('bob')]
  for (const client of [alice, bob]) await client.text('mcp_add', { name: 'one', ...fake(test) })
  expect(await alice.text('mcp__one__count')).toBe('1')
  expect(await alice.text('mcp__one__count')).toBe('2')
  expect(await bob.text('mcp__one__count')).toBe('1')
  await bob.text('mcp_remove', { name: 'one' })
  expect(await nestedNames(bob)).toEqual([])
  expect(await alice.text('mcp__one__count')).toBe('3')
})

async function rootOf(client: TestClient): Promise<string> {
  const status = await client.text('workspace_status')
  const root = /Atelier's folders: (\/.*)/.exec(status)?.[1] ?? /directory: (\/\S+)/.exec(status)?.[1]
  return root ?? ''
}

/** Changes the declarations of the unnamed scope in `.mcp` behind Atelier's back: `change` is JavaScript on the array `all`. Gives the root. */
async function changeOnDisk({ backend }: Case, client: TestClient, change: string): Promise<string> {
  const root = await rootOf(client)
  const edit = `const fs=require('fs'),p=process.argv[1]+'/.mcp',f=JSON.parse(fs.readFileSync(p,'utf8')),all=f.mcps[''][''];
    ${change};fs.writeFileSync(p,JSON.stringify(f))`
  const node = backend === 'local' ? process.execPath : 'node'
  await client.text('Bash', { command: `${node} -e '${edit.replaceAll("'", `'\\''`)}' '${root}'` })
  return root
}

verifies('nested.entry', async test => {
  const { client, connect } = test
  await client.text('mcp_add', { name: 'good', ...fake(test) })
  const bad = "all.unshift({name:'bad',is_stateful:true,mcp_config:{type:'stdio_mcp',args:[]},mine:1})"
  const root = await changeOnDisk(test, client, bad)
  await client.close()
  const again = await connect()
  const list = await again.text('mcp_list')
  expect(list).toMatch(/bad: failed: .*\.mcp/)
  expect(await again.text('mcp_call', { server: 'good', tool: 'echo', arguments: { value: 'works' } })).toBe('works')
  await again.text('mcp_add', { name: 'more', ...fake(test) })
  expect(await again.text('Bash', { command: `cat '${root}/.mcp'` })).toMatch(/"bad"[\s\S]*"mine": 1[\s\S]*"more"/)
})

verifies('nested.disk', async test => {
  const { client } = test
  await client.text('mcp_add', { name: 'one', ...fake(test) })
  let changed = 0
  client.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changed += 1
  })
  await nestedNames(client)
  await changeOnDisk(test, client, "all.push({...all[0],name:'two'})")
  expect(await client.text('mcp_list')).toMatch(/^two: /m)
  await until(async () => (await nestedNames(client)).includes('mcp__two__count'), 'its tools are listed', START_MS)
  expect(changed).toBeGreaterThan(0)
  expect(await client.text('mcp__two__count')).toBe('1')
  expect(await client.text('mcp__one__count')).toBe('1')
  await changeOnDisk(test, client, 'all.shift()')
  await until(async () => !(await nestedNames(client)).includes('mcp__one__count'), 'its tools are gone')
  expect(await client.text('mcp__two__count')).toBe('2')
  await until(() => running(test).length === 1, 'it ends')
})

verifies('nested.hung', async test => {
  const file = join(test.world.root, 'nested.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { slow: { ...fake(test), callTimeoutMs: 1_500 } } }))
  await test.client.close()
  const client = await test.connect({ env: { ATELIER_CONFIG: file } })
  expect(await client.failure('mcp__slow__hang')).toMatch(/slow/)
  // Progress puts the limit off.
  expect(await client.text('mcp__slow__progress', { steps: 8, everyMs: 400 }, { onProgress: () => {} })).toBe('done')
  const stop = new AbortController()
  const hanging = client.failure('mcp__slow__hang', {}, { signal: stop.signal })
  stop.abort()
  await hanging
  expect(await client.text('mcp__slow__echo', { value: 'here' })).toBe('here')
})

verifies('nested.takeover', async test => {
  const journal = join(test.world.root, 'journal')
  const options = { env: { ATELIER_GRACE_MS: '10000' } }
  await test.client.close()
  const first = await test.connect(options)
  await first.text('mcp_add', { name: 'one', ...fake(test, { journal }) })
  expect(await first.text('mcp__one__count')).toBe('1')
  process.kill(first.pid, 'SIGKILL')
  await first.close().catch(() => {})
  const again = await test.connect(options)
  expect(await again.text('mcp__one__count')).toBe('2')
  const lines = readFileSync(journal, 'utf8').split('\n')
  expect(lines.filter(line => line.startsWith('start '))).toHaveLength(1)
  expect(lines.filter(line => line.includes('"method":"initialize"'))).toHaveLength(1)
})

verifies('nested.long-line', async test => {
  const { client } = test
  await client.text('mcp_add', { name: 'big', ...fake(test) })
  const large = (bytes: number) =>
    client.client.callTool({ name: 'mcp__big__big', arguments: { bytes }, _meta: { 'atelier/offload': false } })
  // The SDK's client on stdio takes 10 MiB.
  const carried = (test.transport === 'stdio' ? 9 : 30) * MIB
  const { content } = (await large(carried)) as { content: { text: string }[] }
  expect(content[0]?.text).toHaveLength(carried)
  await expect(large(50_000_000)).rejects.toThrow(/"big".* 50000\d+ bytes/)
  expect(await client.text('mcp__big__count')).toBe('1')
  expect(await client.text('mcp__big__tell', { method: 'notifications/message', bytes: 40_000_000 })).toBe('told')
})

verifies('nested.tree', async test => {
  const { client } = test
  await client.text('mcp_add', { name: 'one', ...fake(test, { child: true, stubborn: true }), env: { MARK: test.world.root } })
  await until(() => running(test, 'setTimeout(() => {}, 600_000)').length === 1, 'its child runs')
  await client.text('mcp_remove', { name: 'one' })
  await until(() => running(test).length === 0, 'the server ends')
  await until(() => running(test, 'setTimeout(() => {}, 600_000)').length === 0, 'its child ends, in a session of its own')
})

verifies('nested.cancelled-start', async test => {
  const stop = new AbortController()
  const adding = test.client.failure('mcp_add', { name: 'slow', ...fake(test, { silent: true }) }, { signal: stop.signal })
  await until(() => running(test).length === 1, 'the server runs', START_MS)
  stop.abort()
  await adding
  await until(() => running(test).length === 0, 'the server is ended')
  expect(await test.client.text('mcp_list')).toContain('No MCP servers')
})

verifies('nested.untidy', async test => {
  const { client } = test
  await client.text('mcp_add', { name: 'noisy', ...fake(test, { banner: true, stderrBytes: 2 * MIB }) })
  expect(await client.text('mcp__noisy__echo', { value: 'heard' })).toBe('heard')
  await client.text('mcp_add', { name: 'brief', ...fake(test, { exitAfterCalls: true }) })
  for (const value of ['first', 'second', 'third']) expect(await client.text('mcp__brief__echo', { value })).toBe(value)
})

verifies('nested.changed', async test => {
  const { client } = test
  await client.text('mcp_add', { name: 'one', ...fake(test) })
  await until(async () => (await nestedNames(client)).length > 0, 'its tools')
  let changed = 0
  client.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changed += 1
  })
  await client.text('mcp__one__grow')
  await until(() => changed > 0, 'tools/list_changed')
  expect(await nestedNames(client)).toContain('mcp__one__extra_1')
})

verifies('nested.schema', async test => {
  const { client } = test
  await client.text('mcp_add', { name: 'one', ...fake(test, { tools: ['echo'] }) })
  const { tools } = await client.client.listTools()
  expect(tools.find(({ name }) => name === 'mcp__one__echo')?.inputSchema).toEqual({
    type: 'object',
    properties: { value: { $ref: '#/$defs/any' } },
    $defs: { any: {} },
  })
})

verifies('nested.secrets', async test => {
  const file = join(test.world.root, 'nested.json')
  const env = { MINE: `$\{OPERATORS_OWN:-nothing}` }
  writeFileSync(file, JSON.stringify({ mcpServers: { operators: { ...fake(test), env } } }))
  await test.client.close()
  // A backend in use keeps its key.
  const { DAYTONA_API_KEY = 'key-of-one-backend', E2B_API_KEY = 'key-of-another' } = test.world.env
  const hidden = { DAYTONA_API_KEY, E2B_API_KEY }
  const listed = { ATELIER_SECRETS: 'LISTED', LISTED: 'for-all' }
  const client = await test.connect({ env: { ATELIER_CONFIG: file, OPERATORS_OWN: 'for-operators', ...listed, ...hidden } })
  expect(await client.text('mcp__operators__environment')).toContain('"MINE":"for-operators"')
  for (const name of Object.keys(hidden)) {
    const given = { name: 'agents', ...fake(test), env: { STOLEN: `$\{${name}:-nothing}` } }
    const added = await client.call('mcp_add', given)
    const seen = added.isError ? JSON.stringify(added) : await client.text('mcp_call', { server: 'agents', tool: 'environment' })
    for (const secret of Object.values(hidden)) expect(seen).not.toContain(secret)
    if (!added.isError) await client.text('mcp_remove', { name: 'agents' })
  }
  const named = { GIVEN: `$\{LISTED}`, STOLEN: `$\{OPERATORS_OWN:-nothing}` }
  await client.text('mcp_add', { name: 'agents', ...fake(test), env: named })
  const seen = JSON.parse(await client.text('mcp_call', { server: 'agents', tool: 'environment' })).env
  // On this host the variables of the host are the workspace's own.
  expect(seen).toMatchObject({ GIVEN: 'for-all', STOLEN: test.backend === 'local' ? 'for-operators' : 'nothing' })
  const root = await rootOf(client)
  expect(await client.text('Bash', { command: `stat -c %a '${root}/.mcp'` })).toMatch(/^600$/m)
})

/** Address of this host as the workspace sees it: of a container, the gateway of its network. */
async function hostSeenInside({ backend, client }: Case): Promise<string> {
  if (backend === 'local') return 'localhost'
  const route = await client.text('Bash', { command: 'cat /proc/net/route' })
  const [, hex = ''] = /^\S+\s+00000000\s+([0-9A-F]{8})/m.exec(route) ?? []
  return [...Buffer.from(hex, 'hex')].reverse().join('.')
}

verifies('nested.url', async test => {
  const { client } = test
  const server = await createFakeHttpServer({ answers: 'stream', news: false }, await hostSeenInside(test))
  test.world.onDispose(() => server.close())
  await client.text('mcp_add', { name: 'web', url: `${server.origin}/mcp`, headers: { 'X-Mine': 'kept' } })
  await client.text('mcp_add', { name: 'old', url: `${server.origin}/sse?key=1` })
  for (const name of ['web', 'old']) {
    expect(await client.text('mcp_call', { server: name, tool: 'any', arguments: { a: 1 } })).toContain('tools/call')
    await client.text('mcp_remove', { name })
    await client.text('mcp_add', { name, url: name === 'web' ? `${server.origin}/mcp` : `${server.origin}/sse?key=1` })
  }
  expect(server.requests.some(({ headers }) => headers['x-mine'] === 'kept')).toBe(true)
})
