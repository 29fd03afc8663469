import { expect } from 'vitest'
import { fake } from '../support/fake-server.ts'
import { killOne, until } from '../support/processes.ts'
import { verifies } from '../support/verifies.ts'

verifies('nested.capacity', async test => {
  await test.client.close()
  const env = { ATELIER_MAX_NESTED_SERVERS: '1' }
  const agent = (name: string) => test.connect({ args: ['--agent', name, '--policy', 'per_user'], env })
  const [alice, bob] = [await agent('alice'), await agent('bob')]
  for (const client of [alice, bob]) await client.text('mcp_add', { name: 'one', ...fake(test) })
  expect(await alice.text('mcp__one__count')).toBe('1')
  expect(await bob.text('mcp__one__count')).toBe('1')
  // Alice's made room for Bob's, and is a new one.
  let steps = 0
  const onProgress = (): void => {
    steps += 1
  }
  const busy = alice.text('mcp__one__progress', { steps: 10, everyMs: 200 }, { onProgress })
  busy.catch(() => {})
  await until(() => steps > 0, 'it is at work')
  expect(await bob.text('mcp__one__count')).toBe('1')
  expect(await busy).toBe('done')
  expect(await alice.text('mcp__one__count')).toBe('1')
})

verifies('nested.left-running', async test => {
  const options = { env: { ATELIER_GRACE_MS: '10000' } }
  await test.client.close()
  const first = await test.connect(options)
  await first.text('mcp_add', { name: 'one', ...fake(test) })
  expect(await first.text('mcp__one__count')).toBe('1')
  killOne(first.pid)
  await first.close().catch(() => {})
  const again = await test.connect(options)
  expect(await again.text('mcp_list')).toMatch(/^one: ready/m)
  await again.text('mcp_remove', { name: 'one' })
  await again.text('mcp_add', { name: 'one', ...fake(test) })
  expect(await again.text('mcp__one__count')).toBe('1')
})

verifies('nested.neighbours', async test => {
  const { client, connect } = test
  await client.text('mcp_add', { name: 'one', ...fake(test) })
  expect(await client.text('mcp__one__count')).toBe('1')
  const neighbour = await connect({ env: { ATELIER_BACKEND: 'local' } })
  await neighbour.text('mcp_add', { name: 'other', ...fake({ ...test, backend: 'local' }) })
  expect(await neighbour.text('mcp__other__count')).toBe('1')
  expect(await client.text('mcp__one__count')).toBe('2')
  await neighbour.text('mcp_remove', { name: 'other' })
})

verifies('nested.odd-items', async test => {
  const { client } = test
  const odd = [{ name: 'no_schema' }, { name: 'odd', inputSchema: { type: 'object' }, description: null }]
  const added = await client.text('mcp_add', { name: 'one', ...fake(test, { tools: ['echo'], odd, restless: true }) })
  expect(added).toContain('"no_schema" is left out')
  const { tools } = await client.client.listTools()
  const nested = tools.filter(({ name }) => name.startsWith('mcp__'))
  expect(nested.map(({ name }) => name)).toEqual(['mcp__one__echo', 'mcp__one__odd'])
  expect(await client.text('mcp_list')).toMatch(/"odd" is shown without its description/)
  expect(await client.text('mcp_call', { server: 'one', tool: 'no_schema' })).toBe('no no_schema')
})
