import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { rawStdio } from '../support/raw-stdio.ts'
import { verifies } from '../support/verifies.ts'

const TOOLS = [
  'Bash',
  'BashInput',
  'BashOutput',
  'Edit',
  'Glob',
  'Grep',
  'KillBash',
  'Read',
  'Write',
  'workspace_close',
  'workspace_create',
  'workspace_delete',
  'workspace_list',
  'workspace_reset',
  'workspace_status',
  'workspace_use',
  'mcp_list',
  'mcp_add',
  'mcp_remove',
  'mcp_call',
]

verifies('protocol.tools', async ({ client }) => {
  const { tools } = await client.client.listTools()
  const names = tools.map(tool => tool.name)
  for (const name of TOOLS) expect(names).toContain(name)
  for (const tool of tools) {
    expect(tool.description?.length, tool.name).toBeGreaterThan(20)
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
      expect(typeof tool.annotations?.[hint], tool.name).toBe('boolean')
  }
  expect(tools.find(tool => tool.name === 'Bash')?._meta?.['anthropic/maxResultSizeChars']).toBeGreaterThan(0)
})

verifies('protocol.instructions', async ({ client }) => {
  const text = client.client.getInstructions() ?? ''
  expect(text.length).toBeGreaterThan(50)
  expect(text.length).toBeLessThan(1_500)
  expect(client.client.getServerVersion()).toMatchObject({ name: 'atelier' })
})

verifies('protocol.unknown-tool', async ({ client }) => {
  expect(await client.failure('Bsh', { command: 'true' })).toContain('Bsh')
})

verifies('protocol.unknown-method', async ({ client }) => {
  const { z } = await import('zod')
  await expect(client.client.request({ method: 'no/such' }, z.any() as never)).rejects.toMatchObject({ code: -32601 })
})

verifies('protocol.concurrent', async ({ client }) => {
  await client.text('Bash', { command: 'true' })
  const slow = client.text('Bash', { command: 'sleep 2; echo slow' })
  const started = Date.now()
  await client.client.ping()
  expect(await client.text('Bash', { command: 'echo quick' })).toContain('quick')
  expect(Date.now() - started).toBeLessThan(1_900)
  expect(await slow).toContain('slow')
})

verifies('protocol.structured', async ({ client }) => {
  const result = await client.call('Bash', { command: 'echo hi' })
  if (result.structuredContent) expect(JSON.stringify(result.structuredContent)).toContain('hi')
  expect(JSON.stringify(result.content)).toContain('hi')
})

verifies('protocol.facts', async ({ client }) => {
  const { structuredContent, _meta } = await client.call('Bash', { command: 'echo hi; exit 3' })
  expect(structuredContent).toBeUndefined()
  expect(_meta?.['atelier/result']).toMatchObject({ status: 'exited', exitCode: 3 })
  expect(JSON.stringify(_meta)).not.toContain('hi')
  const asked = { name: 'Bash', arguments: { command: 'echo hi' }, _meta: { 'atelier/structured': true } }
  const { structuredContent: whole } = await client.client.callTool(asked)
  expect(whole).toMatchObject({ status: 'exited', exitCode: 0, output: expect.stringMatching(/^hi\n\[exit code 0, after /) })
})

verifies('protocol.prompt', async ({ client, workdir }) => {
  const { prompts } = await client.client.listPrompts()
  expect(prompts.length).toBeGreaterThan(0)
  const { messages } = await client.client.getPrompt({ name: prompts[0]?.name ?? '' })
  expect(JSON.stringify(messages)).toContain(workdir)
})

verifies('protocol.logging', async ({ client }) => {
  await client.client.setLoggingLevel('warning')
  expect(client.client.getServerCapabilities()).toMatchObject({ logging: {}, tools: {}, resources: {}, prompts: {} })
})

verifies('protocol.malformed', async ({ world }) => {
  const raw = rawStdio(world)
  await raw.initialize()
  raw.sendText('this is no JSON\n')
  raw.send({ id: 2, method: 'ping' })
  expect(await raw.answer(2)).toMatchObject({ result: {} })
  expect(raw.messages.find(message => message.error)?.error?.code).toBe(-32700)
  raw.child.stdin?.end()
  await raw.ended
})

verifies('protocol.versions', async ({ world }) => {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const raw = rawStdio(world)
    expect((await raw.initialize(version)).result?.protocolVersion).toBe(version)
    raw.child.stdin?.end()
    await raw.ended
  }
  const raw = rawStdio(world)
  expect((await raw.initialize('1999-01-01')).result?.protocolVersion).toBe('2025-11-25')
  raw.child.stdin?.end()
  await raw.ended
})

verifies('protocol.pipelined', async ({ world }) => {
  const raw = rawStdio(world)
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const lines = [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'echo piped' } } },
  ]
  raw.sendText(lines.map(line => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''))
  expect((await raw.answer(1)).result).toHaveProperty('serverInfo')
  expect((await raw.answer(2)).result).toHaveProperty('tools')
  expect(JSON.stringify(await raw.answer(3))).toContain('piped')
  raw.child.stdin?.end()
  await raw.ended
})

verifies('protocol.split-bytes', async ({ world }) => {
  const raw = rawStdio(world)
  await raw.initialize()
  const line = Buffer.from(
    `${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'echo größe 😀' } } })}\n`,
  )
  for (const byte of line) raw.child.stdin?.write(Buffer.from([byte]))
  expect(JSON.stringify(await raw.answer(2))).toContain('größe 😀')
  raw.child.stdin?.end()
  await raw.ended
})

verifies('protocol.long-line', async ({ world }) => {
  const raw = rawStdio(world)
  await raw.initialize()
  raw.send({
    id: 2,
    method: 'tools/call',
    params: { name: 'Write', arguments: { file_path: 'big.txt', content: 'x'.repeat(30_000_000) } },
  })
  expect(JSON.stringify(await raw.answer(2, 50_000))).not.toContain('"error"')
  raw.child.stdin?.end()
  await raw.ended
})

verifies('protocol.cancel-id-zero', async ({ world, dir }) => {
  const raw = rawStdio(world)
  await raw.initialize()
  raw.send({ id: 0, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'touch begun; sleep 987' } } })
  const { existsSync } = await import('node:fs')
  const { until } = await import('../support/processes.ts')
  await until(() => existsSync(join(dir, 'begun')), 'the command runs', 20_000)
  raw.send({ method: 'notifications/cancelled', params: { requestId: 0 } })
  raw.send({
    id: 1,
    method: 'tools/call',
    params: { name: 'Bash', arguments: { command: 'sleep 1; pgrep -f "sleep 987" || echo none-left' } },
  })
  expect(JSON.stringify(await raw.answer(1))).toContain('none-left')
  raw.child.stdin?.end()
  await raw.ended
})

verifies('protocol.stray-output', async ({ world }) => {
  const preload = join(world.root, 'stray.cjs')
  writeFileSync(preload, "setInterval(() => console.log('stray line'), 50).unref()\n")
  const raw = rawStdio(world, { env: { NODE_OPTIONS: `--require ${preload}` } })
  await raw.initialize()
  raw.send({
    id: 2,
    method: 'tools/call',
    params: { name: 'Bash', arguments: { command: 'unset NODE_OPTIONS; sleep .5; echo hi' } },
  })
  await raw.answer(2)
  raw.child.stdin?.end()
  await raw.ended
  expect(raw.garbage).toEqual([])
})
