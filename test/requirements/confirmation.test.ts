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
  const client = await asking(test, ['decline', 'cancel', 'decline'])
  await made(client, 'kept')
  for (const [args, words] of [
    [{}, /declined/],
    [{ confirm: true }, /did not answer/],
  ] as const) {
    const text = await client.failure('workspace_delete', args)
    expect(text).toMatch(words)
    expect(text).toContain('left as it is')
  }
  expect(await client.failure('workspace_reset', { confirm: true })).toMatch(/declined/)
  expect(await client.text('Read', { file_path: 'precious.txt' })).toContain('x')
  expect(client.asked).toHaveLength(3)
})

verifies('workspaces.confirm.impossible', async test => {
  const client = await asking(test, [])
  const directory = await made(client, 'no-question')
  expect(await client.text('workspace_delete', {})).toContain('confirm: true')
  expect(await client.text('workspace_delete', { confirm: true })).toMatch(/^Deleted/)
  if (test.backend === 'local') expect(existsSync(directory)).toBe(false)
})
