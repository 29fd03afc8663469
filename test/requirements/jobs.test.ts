import { expect } from 'vitest'
import type { TestClient } from '../support/client.ts'
import { verifies } from '../support/verifies.ts'

/** Starts a background command and gives the answer with the id that it names. */
async function started(client: TestClient, command: string, more: Record<string, unknown> = {}) {
  const text = await client.text('Bash', { command, run_in_background: true, ...more })
  const id = /\bjob ([0-9a-f]{6,})/i.exec(text)?.[1]
  if (id === undefined) throw new Error(`No job id in: ${text}`)
  return { id, text }
}

const start = async (...args: Parameters<typeof started>) => (await started(...args)).id

verifies('jobs.background', async ({ client }) => {
  const before = Date.now()
  const { id, text } = await started(client, 'echo begun; sleep 60')
  expect(Date.now() - before).toBeLessThan(10_000)
  const next = await client.text('BashOutput', { id, wait: 500 })
  expect(text + next).toContain('begun')
  expect(next).toContain('running')
})

verifies('jobs.exit-code', async ({ client }) => {
  let { id, text } = await started(client, 'echo work; sleep .3; exit 7')
  for (let i = 0; i < 10 && !/\b7\b/.test(text); i += 1) text += await client.text('BashOutput', { id, wait: 5_000 })
  expect(text).toContain('work')
  expect(text).toMatch(/exit[^\n]*\b7\b/i)
})

verifies('jobs.output.new-only', async ({ client }) => {
  const { id, text } = await started(client, 'echo first; sleep 1; echo second; sleep 60')
  const one = text.includes('first') ? text : await client.text('BashOutput', { id, wait: 500 })
  expect(one).toContain('first')
  let more = ''
  for (let i = 0; i < 10 && !more.includes('second'); i += 1) more += await client.text('BashOutput', { id, wait: 3_000 })
  expect(more).toContain('second')
  expect(more).not.toContain('first\n')
  expect(await client.text('BashOutput', { id, offset: 0 })).toMatch(/first\nsecond/)
})

verifies('jobs.output.filter', async ({ client }) => {
  const id = await start(client, 'echo keep-1; echo drop-1; echo keep-2')
  const text = await client.text('BashOutput', { id, wait: 5_000, filter: '^keep', offset: 0 })
  expect(text).toMatch(/keep-1[\s\S]*keep-2/)
  expect(text).not.toContain('drop-1')
})

verifies('jobs.output.bad-filter', async ({ client }) => {
  const id = await start(client, 'echo hi')
  expect(await client.failure('BashOutput', { id, filter: '([' })).toContain('([')
})

verifies('jobs.input', async ({ client }) => {
  const id = await start(client, 'read -r line; echo "got:$line"; cat', { input: 'pipe' })
  await client.text('BashInput', { id, text: 'hello\n' })
  await client.text('BashInput', { id, text: 'rest\n', eof: true })
  let text = ''
  for (let i = 0; i < 10 && !/exit/i.test(text); i += 1) text += await client.text('BashOutput', { id, wait: 3_000 })
  expect(text).toContain('got:hello\nrest')
})

verifies('jobs.input.none', async ({ client }) => {
  const id = await start(client, 'sleep 60')
  expect(await client.failure('BashInput', { id, text: 'x' })).toMatch(/input/i)
})

verifies('jobs.kill', async ({ client }) => {
  const id = await start(client, 'sleep 981 & sleep 981')
  await client.text('KillBash', { id })
  expect(await client.text('Bash', { command: "pgrep -f 'sleep 981' || echo none-left" })).toContain('none-left')
})

verifies('jobs.kill.stubborn', async ({ client }) => {
  let { id, text } = await started(client, "trap '' TERM; echo ready; while :; do sleep .2; done")
  if (!text.includes('ready')) text = await client.text('BashOutput', { id, wait: 5_000 })
  expect(text).toContain('ready')
  await client.text('KillBash', { id })
  for (let i = 0; i < 10 && !/SIGKILL|killed|137/i.test(text); i += 1) text = await client.text('BashOutput', { id, wait: 3_000 })
  expect(text).toMatch(/SIGKILL|killed|137/i)
})

verifies('jobs.unknown', async ({ client }) => {
  for (const tool of ['BashOutput', 'KillBash'])
    expect(await client.failure(tool, { id: 'no-such-job' })).toContain('no-such-job')
})

verifies('jobs.soft-limit', async ({ connect }) => {
  const client = await connect({ env: { ATELIER_SOFT_LIMIT_MS: '700' } })
  const text = await client.text('Bash', { command: 'echo early; sleep 3; echo late' })
  expect(text).toContain('early')
  const id = /\bjob ([0-9a-f]{6,})/i.exec(text)?.[1]
  expect(id, text).toBeDefined()
  let more = ''
  for (let i = 0; i < 10 && !more.includes('late'); i += 1) more += await client.text('BashOutput', { id, wait: 5_000 })
  expect(more).toContain('late')
})

verifies('jobs.shared', async ({ client, connect, transport }) => {
  const id = await start(client, 'echo from-one; sleep 60')
  const other = await connect(transport === 'http' && client.http ? { server: client.http } : {})
  expect(await other.text('BashOutput', { id, offset: 0, wait: 2_000 })).toContain('from-one')
})
