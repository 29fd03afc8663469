import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { type Case, verifies } from '../support/verifies.ts'

/** A folder of the world that is no workspace yet, with a file in it. */
function folder({ world }: Case, name: string): string {
  const path = join(realpathSync(world.root), name)
  mkdirSync(path)
  writeFileSync(join(path, 'where.txt'), `${name}\n`)
  return path
}

/** A client with these roots; they can be replaced. */
async function rooted({ connect }: Case, args: string[], roots: { uri: string; name?: string }[]): Promise<TestClient> {
  const answer = () => ({ roots })
  const client = await connect({
    args,
    client: { capabilities: { roots: { listChanged: true } } },
    prepare: made => made.setRequestHandler(ListRootsRequestSchema, answer),
  })
  return client
}

verifies('workspaces.roots', async test => {
  const roots = [
    { uri: pathToFileURL(folder(test, 'front end')).href },
    { uri: pathToFileURL(folder(test, 'back')).href, name: 'Back End' },
    { uri: pathToFileURL(test.dir).href },
    { uri: 'https://example.com/no-file' },
    { uri: pathToFileURL(join(test.world.root, 'missing')).href },
  ]
  const client = await rooted(test, ['--client-roots'], roots)
  // The default workspace is listed once it is there.
  await client.text('Bash', { command: 'true' })
  const list = await client.text('workspace_list')
  expect(list).toMatch(/^front-end \(/m)
  expect(list).toMatch(/^Back-End \(/m)
  expect(list).toContain('[3 workspaces]')
  expect(await client.text('Bash', { command: 'cat where.txt', workspace: 'front-end' })).toContain('front end')
  expect(await client.text('workspace_use', { workspace: 'Back-End' })).toContain('Back-End')
  expect(await client.text('Bash', { command: 'cat where.txt' })).toContain('back')
  expect(await client.failure('workspace_delete', { confirm: true })).toMatch(/not deleted/)
  roots.splice(1, 1, { uri: pathToFileURL(folder(test, 'added')).href, name: 'added' })
  await client.client.sendRootsListChanged()
  await until(async () => /^added \(/m.test(await client.text('workspace_list')), 'the new root is there')
  expect(await client.text('workspace_list')).toMatch(/^default \(/m)
})

verifies('workspaces.roots.off', async test => {
  const roots = [{ uri: pathToFileURL(folder(test, 'private')).href }]
  const client = await rooted(test, [], roots)
  expect(await client.text('workspace_list')).not.toContain('private')
  expect(await client.failure('Bash', { command: 'true', workspace: 'private' })).toContain('There is no workspace')
})
