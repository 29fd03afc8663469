import { join } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { BACKENDS } from '../support/backends.ts'
import { type TestClient, textOf } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { type Case, verifies } from '../support/verifies.ts'

type Profile = Record<string, unknown>

/** Variables of a server with further profiles, each the one of the tests with something more. */
function withProfiles({ world }: Case, profiles: Record<string, Profile>): Record<string, string> {
  const { tests } = JSON.parse(world.env.ATELIER_PROFILES ?? '{}') as { tests: Profile }
  const more = Object.entries(profiles).map(([name, profile]) => [name, { ...tests, ...profile }])
  return { ATELIER_PROFILES: JSON.stringify({ tests, ...Object.fromEntries(more) }) }
}

verifies('workspaces.status.use', async test => {
  const status = await test.client.text('workspace_status')
  expect(status).toMatch(/^memory: \S/m)
  expect(status).toMatch(/^MCP servers: 0 running$/m)
  if (!['local', 'docker'].includes(test.backend)) return
  expect(status).toMatch(/^memory: .+ of .+$/m)
  expect(status).toMatch(/^disk: .+ free$/m)
  if (test.backend === 'local') return
  expect(status).toMatch(/^cpu: \d+ %$/m)
  const client = await test.connect({ env: withProfiles(test, { small: { memory: '256MiB', cpus: 1, pids: 200 } }) })
  await client.text('workspace_create', { name: 'small', profile: 'small' })
  expect(await client.text('workspace_status')).toMatch(/^memory: .+ of 256(\.0)? Mi?B$/m)
  const limits = 'cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2> /dev/null'
  expect(await client.text('Bash', { command: limits })).toContain('200')
})

verifies('workspaces.list.backends', async test => {
  const client = await test.connect({ env: { ATELIER_ALLOW_LOCAL: 'true' } })
  await client.text('workspace_create', { name: 'inside' })
  await client.text('workspace_create', { name: 'outside', backend: 'local' })
  const list = await client.text('workspace_list')
  expect(list).toMatch(/^inside \(docker, running\): \/workspace, id/m)
  expect(list).toMatch(/^outside \(local, running, current\): /m)
  const where = (workspace: string) => client.text('Bash', { command: 'pwd', workspace })
  expect(await where('inside')).toContain('/workspace')
  expect(await where('outside')).toContain(test.world.root)
  const resources = (await client.client.listResources()).resources.map(({ name }) => name).join()
  expect(resources).toContain('inside')
  expect(resources).toContain('outside')
  await client.text('workspace_delete', { workspace: 'outside', confirm: true })
})

verifies('workspaces.create.closed-host', async test => {
  const opened = await test.connect({ env: { ATELIER_ALLOW_LOCAL: 'true' } })
  const made = await opened.text('workspace_create', { name: 'on-the-host', backend: 'local' })
  const id = /id (ws-\w+)/.exec(made)?.[1] ?? ''
  const { client } = test
  expect(await client.failure('workspace_create', { name: 'mine', backend: 'local' })).toMatch(/local is the host itself/)
  for (const workspace of ['on-the-host', id]) {
    expect(await client.failure('workspace_use', { workspace })).toMatch(/no workspace|not found|There is no/i)
    expect(await client.failure('Bash', { command: 'true', workspace })).toContain(workspace)
  }
  expect(await client.text('workspace_list')).not.toContain('on-the-host')
  const refused = (given: Record<string, unknown>) => client.failure('workspace_create', { name: 'mine', ...given })
  expect(await refused({ image: 'debian:stable' })).toContain('not allowed')
  expect(await refused({ profile: 'host' })).toContain('not open to calls')
  expect(await refused({ env: { 'A=B': 'x' } })).toContain('A=B')
  for (const what of ['mounts', 'volumes', 'privileged', 'network', 'user', 'directory', 'dockerHost', 'capAdd'])
    expect(await refused({ [what]: '/' })).toContain(what)
  expect(await client.text('workspace_list')).not.toMatch(/^mine /m)
  await opened.text('workspace_delete', { workspace: id, confirm: true })
})

verifies('workspaces.offline', async test => {
  const client = await test.connect({ env: withProfiles(test, { offline: { network: 'none' } }) })
  await client.text('workspace_create', { name: 'offline', profile: 'offline' })
  const interfaces = await client.text('Bash', { command: 'ls /sys/class/net' })
  expect(interfaces).toMatch(/^lo$/m)
  expect(interfaces).not.toMatch(/^(eth|en)/m)
  await client.text('Write', { file_path: 'a.txt', content: 'written' })
  expect(await client.text('Grep', { pattern: 'written', output_mode: 'content' })).toContain('a.txt')
  expect(await client.text('mcp_list')).toContain('No MCP servers')
  expect(await client.text('skill_list')).toContain('git-worktrees')
})

verifies('workspaces.cycles', async ({ client, world, backend, processes }) => {
  const left = async () => ((await BACKENDS[backend]?.left(world)) ?? []).length
  await client.text('Bash', { command: 'true' })
  const before = await left()
  for (let round = 0; round < 4; round++) {
    const names = Array.from({ length: 5 }, (_, n) => `cycle-${n}`)
    await Promise.all(names.map(name => client.text('workspace_create', { name })))
    const started = names.map(workspace => client.text('Bash', { command: 'sleep 4321 & echo started', workspace }))
    for (const text of await Promise.all(started)) expect(text).toContain('started')
    const [end, given] = round % 2 === 0 ? ['workspace_close', {}] : ['workspace_delete', { confirm: true }]
    await Promise.all(names.map(workspace => client.text(end as string, { workspace, ...(given as object) })))
    expect(await left()).toBe(before)
  }
  await until(() => !processes().some(({ command }) => command.includes('sleep 4321')), 'nothing runs')
  expect(await client.text('workspace_list')).not.toContain('cycle-')
})

/** Path and URI of what was just offloaded. */
function keptIn(result: CallToolResult): { path: string; uri: string } {
  const link = result.content.find(block => block.type === 'resource_link')
  const path = /(\/\S+\/tool_result-\S+?\.txt)/.exec(textOf(result))?.[1]
  if (link === undefined || path === undefined) throw new Error(`No path or link in ${JSON.stringify(result.content)}`)
  return { path, uri: link.uri }
}

verifies('offload.private', async test => {
  const env = { ATELIER_POLICY: 'per_session', ATELIER_CONFINE: 'workdir' }
  const session = async (name: string): Promise<TestClient> => {
    const client = await test.connect({ env, args: ['--session', name] })
    await client.text('workspace_create', { name: 'own' })
    return client
  }
  const [mine, other] = [await session('mine'), await session('other')]
  const secret = { id: 'call-1', result: 'only for mine' }
  const { path, uri } = keptIn(await mine.call('offload_tool_result', secret))
  expect(await mine.text('Read', { file_path: path })).toContain(secret.result)
  expect(await other.failure('Read', { file_path: path })).not.toContain(secret.result)
  const grep = await other.call('Grep', { pattern: 'only for', path: join(path, '../..'), output_mode: 'content' })
  expect(textOf(grep)).not.toContain(secret.result)
  const id = /^own .*id (ws-\w+)/m.exec(await mine.text('workspace_list'))?.[1]
  const names = [uri, `workspace://${id}/${path.split('/').slice(-3).join('/')}?root`]
  for (const each of names) await expect(other.client.readResource({ uri: each })).rejects.toThrow()
  expect(await other.failure('Read', { file_path: path, workspace: id })).toContain(id)
})
