import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LocalWorkspace } from '../../src/library/local-workspace.ts'
import { createPlace } from './place.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/agentscope')
const WEB = { name: 'web', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Fake': '1' } }

let place: ReturnType<typeof createPlace>
beforeAll(() => {
  place = createPlace()
})
afterAll(() => place.remove())

/** A workspace as AgentScope left it: its folder, with `.mcp`, sessions and skills. */
function fixture(version: 'v1' | 'v2'): string {
  const folder = join(place.base, `agentscope-${version}`)
  mkdirSync(folder)
  cpSync(join(FIXTURES, `${version}.mcp.json`), join(folder, '.mcp'))
  cpSync(join(FIXTURES, 'skills', version), join(folder, 'skills'), { recursive: true })
  if (version === 'v2') cpSync(join(FIXTURES, 'sessions'), join(folder, 'sessions'), { recursive: true })
  // As AgentScope's own: the index is older than what it tells of.
  const old = new Date('2026-01-02T03:04:05Z')
  for (const path of Object.keys(files(folder)).filter(name => name.endsWith('.index'))) utimesSync(join(folder, path), old, old)
  return folder
}

/** Every file and its bytes, apart from what AgentScope's form has no room for. */
function files(folder: string, below = ''): Record<string, string> {
  const names = readdirSync(join(folder, below)).filter(name => name !== '.atelier')
  return Object.assign(
    {},
    ...names.map(name => {
      const path = join(below, name)
      return statSync(join(folder, path)).isDirectory()
        ? files(folder, path)
        : { [path]: readFileSync(join(folder, path)).toString('base64') }
    }),
  )
}

const opened = (folder: string) =>
  new LocalWorkspace({ directory: folder, layout: 'workdir', mcpServers: [WEB] }, place.read).initialize()

describe("AgentScope's workspaces", () => {
  test('open with the same meaning, and stay byte for byte what they were', async () => {
    const folder = fixture('v2')
    const before = files(folder)
    await using workspace = await opened(folder)
    const servers = async (agent: string, session: string) =>
      (await workspace.listMcps({ agent, session })).map(({ name }) => name)
    expect(await servers('alice', 's1')).toEqual(['web', 'fake'])
    expect(await servers('bob', 's2')).toEqual([])
    expect(await servers('', '')).toEqual(['web', 'filtered'])
    expect(await servers('alice', 's2')).toEqual(['web'])
    const skills = async (agent: string) => (await workspace.listSkills({ agent })).skills.map(({ name }) => name).sort()
    expect(await skills('alice')).toEqual(['hello skill!', 'hello skill! (1)', 'note'])
    expect(await skills('bob')).toEqual([])
    expect((await workspace.listOffloads('s1')).map(({ path }) => path)).toContain(join(folder, 'sessions/s1/context.jsonl'))
    await workspace.close()
    const after = files(folder)
    expect(Object.fromEntries(Object.keys(before).map(path => [path, after[path]]))).toEqual(before)
    expect(Object.keys(after).filter(path => !(path in before) && !path.startsWith('skills/.seed/'))).toEqual([])
  })

  test('keep their form where something is added', async () => {
    const folder = join(place.base, 'agentscope-v2')
    await using workspace = await opened(folder)
    const { path } = await workspace.offloadToolResult('s1', { id: 'call-1', output: 'more' })
    expect(path).toBe(join(folder, 'sessions/s1/tool_result-call-1(3).txt'))
    await workspace.removeMcp('fake', { agent: 'alice', session: 's1' })
    const { version, mcps } = JSON.parse(readFileSync(join(folder, '.mcp'), 'utf8'))
    expect(version).toBe(2)
    expect(mcps.alice.s1.map(({ name }: { name: string }) => name)).toEqual(['web'])
    expect(mcps.bob.s2).toEqual([])
  })

  test('of the older form are read, and their skills become the seed', async () => {
    const folder = fixture('v1')
    const before = readFileSync(join(folder, '.mcp'), 'utf8')
    await using workspace = await opened(folder)
    const servers = await workspace.listMcps({})
    expect(servers.filter(({ state }) => state !== 'failed').map(({ name }) => name)).toEqual(['web', 'fake', 'minimal'])
    expect(readFileSync(join(folder, '.mcp'), 'utf8')).toBe(before)
    await workspace.listSkills({ agent: 'alice' })
    expect(existsSync(join(folder, 'skills/.seed/hello/SKILL.md'))).toBe(true)
    expect(existsSync(join(folder, 'skills/hello'))).toBe(false)
  })

  test('need a directory to be opened', async () => {
    const workspace = new LocalWorkspace({ layout: 'workdir' }, place.read)
    await expect(workspace.initialize()).rejects.toThrow(/layout/)
  })

  test('are not deleted, and stand apart from the same directory without a layout', async () => {
    const folder = join(place.base, 'agentscope-v2')
    await using asProject = await new LocalWorkspace({ directory: folder }, place.read).initialize()
    expect(asProject.info.root).not.toBe(folder)
    await using workspace = await opened(folder)
    expect(workspace.info).toMatchObject({ root: folder, workdir: folder, madeByAtelier: false, layout: 'workdir' })
    expect(workspace.id).not.toBe(asProject.id)
  })
})
