import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import type { NestedStatus } from '../../src/workspace/nested-servers/port.ts'
import { call } from './fakes.ts'

const status = (fields: Partial<NestedStatus> = {}): NestedStatus => ({
  name: 'git',
  declaration: { name: 'git', command: 'uvx', args: ['mcp-server-git', 'a b'] },
  expose: 'prefixed',
  state: 'ready',
  tools: 12,
  inFlight: 0,
  source: 'added',
  warnings: [],
  ...fields,
})

describe('mcp_list', () => {
  it('shows state, reason, stderr, origin and instructions', async () => {
    const servers = [
      status({ instructions: 'Be\ncareful.', inFlight: 1 }),
      status({
        name: 'db',
        state: 'failed',
        reason: 'exit code 3',
        stderrTail: 'no-such-database\n',
        source: 'config',
        expose: 'hidden',
      }),
    ]
    const { text } = await call('mcp_list', {}, { 'nested.list': servers })
    expect(text).toBe(
      [
        'git: ready, 12 tools, 1 call in flight',
        '  from: uvx mcp-server-git "a b"',
        '  instructions: Be\n    careful.',
        'db: failed: exit code 3, 12 tools, hidden',
        '  from: uvx mcp-server-git "a b" (configured)',
        '  stderr: no-such-database',
      ].join('\n'),
    )
  })

  it('says how to start one where there is none', async () => {
    expect((await call('mcp_list', {}, { 'nested.list': [] })).text).toContain('mcp_add')
  })

  it('shows the tools of one server with their arguments', async () => {
    const tools = [{ name: 'a.b', shown: 'mcp__git__a_b_1', description: 'Does.', inputSchema: { type: 'object' } }]
    const { text, asked } = await call('mcp_list', { server: 'git' }, { 'nested.tools': tools })
    expect(text).toContain('a.b (listed as mcp__git__a_b_1): Does.\n  arguments: {"type":"object"}')
    expect(asked).toEqual([['nested.tools', 'git']])
  })
})

describe('mcp_add', () => {
  const ports = { 'nested.add': status(), 'nested.tools': [{ name: 't', shown: 'mcp__git__t' }] }

  it('hands the declaration on, and tells the names of the tools', async () => {
    const { text, asked } = await call(
      'mcp_add',
      { name: 'git', command: 'uvx', args: '["x"]', env: { A: 'B' }, url: null },
      ports,
    )
    expect(asked[0]).toEqual(['nested.add', { name: 'git', command: 'uvx', args: ['x'], env: { A: 'B' } }])
    expect(text).toContain('Added git: 1 tool: mcp__git__t.')
  })

  it('gives the reason of a failure', async () => {
    const error = new WorkspaceError('unavailable', 'git could not be started: exit code 3.')
    expect(await call('mcp_add', { name: 'git', command: 'x' }, { 'nested.add': error })).toMatchObject({
      isError: true,
      text: expect.stringContaining('exit code 3'),
    })
  })
})

describe('what is not there', () => {
  const ports = { 'nested.list': [status()], 'nested.remove': false }

  it.each([
    ['mcp_remove', { name: 'gti' }],
    ['mcp_call', { server: 'gti', tool: 't' }],
    ['mcp__gti__t', {}],
  ])('%s %j names what is', async (tool, args) => {
    const { text, isError } = await call(tool, args, ports)
    expect(isError).toBe(true)
    expect(text).toContain('gti')
    expect(text).toContain('git (ready)')
  })

  it('mcp_call tells of a tool that is off', async () => {
    expect((await call('mcp_call', { server: 'git', tool: 'push' }, ports)).text).toMatch(/"push" of git is turned off/)
  })
})
