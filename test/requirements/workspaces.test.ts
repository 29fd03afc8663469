import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../support/verifies.ts'

verifies('workspaces.create', async ({ client, dir }) => {
  await client.text('workspace_create', { name: 'second' })
  await client.text('Write', { file_path: 'only-there.txt', content: 'x' })
  expect(readdirSync(dir)).not.toContain('only-there.txt')
  expect(await client.text('Bash', { command: 'pwd; ls' })).toContain('only-there.txt')
  expect(await client.text('workspace_list')).toContain('second')
})

verifies('workspaces.attach', async ({ client, connect }) => {
  await client.text('workspace_create', { name: 'kept' })
  await client.text('Write', { file_path: 'a.txt', content: 'still here' })
  const other = await connect(client.http ? { server: client.http } : {})
  await other.text('workspace_create', { name: 'kept' })
  expect(await other.text('Read', { file_path: 'a.txt' })).toContain('still here')
})

verifies('workspaces.use', async ({ client, dir }) => {
  await client.text('Bash', { command: 'true' })
  await client.text('workspace_create', { name: 'second' })
  expect((await client.text('workspace_list')).split('\n').filter(line => /^\S+ \(\w+, /.test(line))).toHaveLength(2)
  await client.text('Bash', { command: 'touch there', workspace: 'second' })
  expect(readdirSync(dir)).not.toContain('there')
})

verifies('workspaces.race', async ({ client }) => {
  await Promise.all(Array.from({ length: 8 }, () => client.text('workspace_create', { name: 'same' })))
  const list = await client.text('workspace_list')
  expect(
    list.split('\n').filter(line => /\bsame\b/.test(line) && !/[/\\]same/.test(line.replace(/\bsame\b/, ''))).length,
  ).toBeLessThanOrEqual(2)
})

verifies('workspaces.status', async ({ client, workdir }) => {
  await client.text('Bash', { command: 'sleep 60 & true' })
  const text = await client.text('workspace_status')
  expect(text).toContain(workdir)
  expect(text).toMatch(/running/i)
})

verifies('workspaces.unknown', async ({ client }) => {
  expect(await client.failure('Bash', { command: 'true', workspace: 'nobody-has-this' })).toContain('nobody-has-this')
  expect(await client.failure('workspace_use', { workspace: 'nobody-has-this' })).toContain('nobody-has-this')
})

verifies('workspaces.names', async ({ client, world }) => {
  for (const name of ['../../evil', 'a/b', '..', 'x\u0000y']) await client.failure('workspace_create', { name })
  expect(existsSync(join(world.root, 'evil'))).toBe(false)
})

verifies('workspaces.delete', async ({ client, world }) => {
  await client.text('workspace_create', { name: 'doomed' })
  await client.text('Write', { file_path: 'doomed.txt', content: 'x' })
  const kept = () => readdirSync(world.root, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('/doomed.txt'))
  const plan = await client.call('workspace_delete', { workspace: 'doomed' })
  expect(JSON.stringify(plan.content)).toMatch(/confirm/)
  expect(kept()).toHaveLength(1)
  await client.text('workspace_delete', { workspace: 'doomed', confirm: true })
  expect(kept()).toEqual([])
})

verifies('workspaces.delete.refused', async ({ client, dir }) => {
  writeFileSync(join(dir, 'mine.txt'), 'x')
  await client.text('Bash', { command: 'true' })
  expect(await client.failure('workspace_delete', { confirm: true })).toMatch(/not deleted/)
  expect(existsSync(join(dir, 'mine.txt'))).toBe(true)
})

verifies('workspaces.reset', async ({ client, dir, workdir }) => {
  writeFileSync(join(dir, 'mine.txt'), 'x')
  await client.text('Bash', { command: 'export GONE=1; cd /' })
  await client.text('workspace_reset', { confirm: true })
  expect(existsSync(join(dir, 'mine.txt'))).toBe(true)
  const text = await client.text('Bash', { command: 'echo "[$GONE]" $PWD' })
  expect(text).toContain(`[] ${workdir}`)
})

verifies('workspaces.close', async ({ client }) => {
  await client.text('workspace_create', { name: 'short' })
  await client.text('Bash', { command: 'sleep 988 & true' })
  await client.text('workspace_close', { workspace: 'short' })
  expect(await client.text('Bash', { command: "pgrep -f 'sleep 98[8]' || echo none-left" })).toContain('none-left')
})
