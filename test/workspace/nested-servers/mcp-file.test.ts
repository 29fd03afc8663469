import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completeEntry, readEntry, toEntry } from '../../../src/workspace/nested-servers/mcp-entry.ts'
import { McpFile } from '../../../src/workspace/nested-servers/mcp-file.ts'
import type { ServerDeclaration } from '../../../src/workspace/nested-servers/port.ts'

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/agentscope/${name}.json`, import.meta.url), 'utf8')

describe('the .mcp file', () => {
  it("gives AgentScope's own files back byte for byte", () => {
    for (const name of ['v2.mcp', 'step-02-add-fake-alice-s1', 'step-03-remove-last-bob-s2', 'step-04-add-filtered-no-ids'])
      expect(String(new McpFile(fixture(name))), name).toBe(fixture(name))
  })

  it('reads scopes: a list, an explicit none, and the defaults', () => {
    const file = new McpFile(fixture('v2.mcp'))
    expect(file.entries({ agent: 'alice', session: 's1' })?.map(readEntry)).toEqual([
      { name: 'web', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Fake': '1' } },
      { name: 'fake', command: 'node', args: ['fake-server.mjs'], env: { FAKE_TOKEN: 'not-a-secret' } },
    ])
    expect(file.entries({ agent: 'bob', session: 's2' })).toEqual([])
    expect(file.entries({ agent: 'alice', session: 's2' })).toBeUndefined()
    expect(readEntry(file.entries({ agent: '', session: '' })?.[1])).toMatchObject({
      ...{ name: 'filtered', enableTools: ['x'], disableTools: ['y'], callTimeoutMs: 5000 },
    })
  })

  it('writes what AgentScope wrote for the same changes', () => {
    const web: ServerDeclaration = { name: 'web', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Fake': '1' } }
    const fake = { name: 'fake', command: 'node', args: ['fake-server.mjs'], env: { FAKE_TOKEN: 'not-a-secret' } }
    const file = new McpFile(undefined)
    file.set({ agent: 'alice', session: 's1' }, [toEntry(web), toEntry(fake)])
    expect(String(file)).toBe(fixture('step-02-add-fake-alice-s1'))
    file.set({ agent: 'bob', session: 's2' }, [])
    expect(String(file)).toBe(fixture('step-03-remove-last-bob-s2'))
  })

  it('reads version 1 as the unnamed scope, and keeps what it can not read', () => {
    const file = new McpFile(fixture('v1.mcp'))
    const entries = file.entries({ agent: '', session: '' }) ?? []
    expect(entries.map(readEntry).map(read => ('fault' in read ? read.fault : read.name))).toEqual([
      'web',
      'fake',
      expect.stringMatching(/its name must be/),
      'minimal',
    ])
    file.set({ agent: '', session: '' }, entries.map(completeEntry))
    const written = JSON.parse(String(file))
    expect(written.version).toBe(2)
    expect(written.mcps[''][''].map((entry: { name: string }) => entry.name)).toEqual(['web', 'fake', 'bad name', 'minimal'])
    expect(written.mcps[''][''][3]).toMatchObject({ stream_progress: false, unknown_field: 1, mcp_config: { timeout: 30 } })
  })

  it('counts what can not be read as empty, and says why', () => {
    for (const text of ['', '{', '3', '{"mcps": []}', '{"mcps": {"a": []}}']) expect(new McpFile(text).fault, text).toMatch(/./)
    expect(new McpFile('\uFEFF{"version": 99, "mcps": {}, "other": 1}').fault).toBeUndefined()
  })

  it('lets a scope that is no list hide no other, and keeps it', () => {
    const file = new McpFile('{"mcps": {"a": {"bad": {"mine": 1}, "good": []}}}')
    expect(file.entries({ agent: 'a', session: 'good' })).toEqual([])
    const entries = file.entries({ agent: 'a', session: 'bad' }) ?? []
    expect(entries.map(readEntry)).toEqual([{ fault: 'it has no name' }])
    file.set({ agent: 'a', session: 'bad' }, [...entries, toEntry({ name: 'x', command: 'run' })])
    expect(JSON.parse(String(file)).mcps.a.bad).toEqual([{ mine: 1 }, expect.objectContaining({ name: 'x' })])
  })

  it('forgets a scope, and the agent with its last one', () => {
    const file = new McpFile(fixture('v2.mcp'))
    expect(file.forget({ agent: 'alice', session: 's1' })).toBe(true)
    expect(file.forget({ agent: 'alice', session: 's1' })).toBe(false)
    expect(Object.keys(JSON.parse(String(file)).mcps)).toEqual(['bob', ''])
  })

  it('skips entries with a fault, and tells it', () => {
    const stdio = { name: 'a', is_stateful: true, mcp_config: { type: 'stdio_mcp', command: 'x' } }
    const faults = [
      [null, /no object/],
      [{}, /no name/],
      [{ ...stdio, name: 'a b' }, /its name/],
      [{ ...stdio, mcp_config: { type: 'stdio_mcp' } }, /no command/],
      [{ ...stdio, is_stateful: false }, /stateful/],
      [{ ...stdio, mcp_config: { type: 'other' } }, /stdio_mcp or http_mcp/],
      [{ ...stdio, enable_tools: ['t'], disable_tools: ['t'] }, /both enables and disables/],
      [{ ...stdio, execution_timeout: 'soon' }, /execution_timeout/],
    ] as const
    for (const [entry, fault] of faults) expect(readEntry(entry)).toEqual({ fault: expect.stringMatching(fault) })
  })

  it('keeps any scope and declaration through the file', () => {
    const id = fc.string({ maxLength: 8 })
    fc.assert(
      fc.property(id, id, fc.dictionary(fc.string(), fc.string()), (agent, session, env) => {
        const declaration = { name: 'x', command: 'run', args: [agent, session], env }
        const file = new McpFile(undefined)
        file.set({ agent, session }, [toEntry(declaration)])
        const [entry] = new McpFile(String(file)).entries({ agent, session }) ?? []
        expect(readEntry(entry)).toEqual(declaration)
      }),
    )
  })
})
