import { existsSync } from 'node:fs'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import type { TestClient } from '../support/client.ts'
import { type Case, verifies } from '../support/verifies.ts'

type Action = 'accept' | 'decline' | 'cancel'

/** A client that can ask its person, who answers as told; what was asked is kept. */
async function asking({ connect }: Case, answers: Action[]): Promise<TestClient & { asked: string[] }> {
  const client = await connect({ client: { capabilities: { elicitation: { form: {} } } } })
  const asked: string[] = []
  client.client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    const action = answers.shift()
    if (action === undefined) throw new Error('asked too often')
    return { action, ...(action === 'accept' && { content: {} }) }
  })
  return { ...client, asked }
}

async function made(client: TestClient, name: string): Promise<string> {
  await client.text('workspace_create', { name })
  await client.text('Write', { file_path: 'precious.txt', content: 'x' })
  return (await client.text('Bash', { command: 'pwd' })).split('\n')[0] ?? ''
}

verifies('workspaces.confirm.asked', async test => {
  const client = await asking(test, ['accept'])
  await made(client, 'asked-for')
  const text = await client.text('workspace_delete', {})
  expect(text).toMatch(/^Deleted asked-for\./)
  expect(client.asked).toHaveLength(1)
  expect(client.asked[0]).toMatch(/asked-for[\s\S]*remove/)
  expect(await client.text('workspace_list')).not.toContain('asked-for')
})

verifies('workspaces.confirm.declined', async test => {
  const client = await asking(test, ['decline', 'decline', 'cancel', 'decline', 'decline'])
  await made(client, 'kept')
  const refusals: [string, object, RegExp][] = [
    ['workspace_delete', {}, /declined: kept was left as it is/],
    ['workspace_delete', { confirm: true }, /declined/],
    // A later no takes back that the question was open.
    ['workspace_reset', { confirm: true }, /did not answer/],
    ['workspace_reset', {}, /declined/],
    ['workspace_reset', { confirm: true }, /declined/],
  ]
  for (const [tool, args, words] of refusals) expect(await client.failure(tool, { ...args })).toMatch(words)
  expect(await client.text('Read', { file_path: 'precious.txt' })).toContain('x')
  expect(client.asked).toHaveLength(5)
})

verifies('workspaces.confirm.open', async test => {
  const client = await asking(test, ['cancel', 'cancel', 'cancel'])
  await made(client, 'other')
  await made(client, 'open')
  const text = await client.failure('workspace_delete', { confirm: true })
  expect(text).toMatch(/did not answer: open was left as it is[\s\S]*"ws-\w+" and confirm: true/)
  // The question was about one workspace and one tool.
  expect(await client.failure('workspace_reset', { confirm: true })).toMatch(/did not answer/)
  expect(await client.failure('workspace_delete', { workspace: 'other', confirm: true })).toMatch(/did not answer/)
  expect(await client.text('Read', { file_path: 'precious.txt' })).toContain('x')
  const id = /"(ws-\w+)"/.exec(text)?.[1]
  expect(await client.text('workspace_delete', { workspace: id, confirm: true })).toMatch(/^Deleted open\./)
  expect(client.asked).toHaveLength(3)
  expect(await client.text('workspace_list')).toMatch(/other/)
})

verifies('workspaces.confirm.impossible', async test => {
  const client = await asking(test, [])
  const directory = await made(client, 'no-question')
  expect(await client.text('workspace_delete', {})).toContain('confirm: true')
  expect(await client.text('workspace_delete', { confirm: true })).toMatch(/^Deleted/)
  if (test.backend === 'local') expect(existsSync(directory)).toBe(false)
})
