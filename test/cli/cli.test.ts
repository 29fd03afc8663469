import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { clientEntries } from '../../src/cli/client-entries.ts'
import { createProgram, type Request } from '../../src/cli/program.ts'
import { commandHint, explainUsage } from '../../src/cli/usage-error.ts'
import { configReference } from '../../src/config.ts'

function parse(...argv: string[]): Request {
  let request: Request | undefined
  createProgram('1.2.3', asked => {
    request = asked
  }).parse(argv, { from: 'user' })
  if (request === undefined) throw new Error('No command ran.')
  return request
}

function usage(...argv: string[]): string {
  const program = createProgram('1.2.3', () => {})
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return explainUsage(error, program, argv)
  }
  throw new Error('It was accepted.')
}

describe('commands and flags', () => {
  it('serves stdio when no command is named', () => {
    expect(parse()).toEqual({ command: 'stdio', flags: {}, file: undefined })
    expect(parse('--agent', 'a', '/work')).toEqual({
      command: 'stdio',
      flags: { agent: 'a', directory: '/work' },
      file: undefined,
    })
  })

  it('takes a flag for every setting that has one', () => {
    for (const { key, flag, allowed } of configReference()) {
      if (flag === undefined) continue
      const given = allowed.startsWith('true or false') ? [flag] : [flag, 'x']
      expect(parse('http', ...given).flags).toHaveProperty(key)
    }
  })

  it('collects lists, and knows both sides of a switch', () => {
    expect(parse('http', '--allowed-hosts', 'a', '--allowed-hosts', 'b,c').flags).toEqual({ allowedHosts: ['a', 'b,c'] })
    expect(parse('http', '--no-allow-shared-local').flags).toEqual({ allowSharedLocal: false })
    expect(parse('http', '--allow-shared-local', '--config', 'x.json')).toMatchObject({
      flags: { allowSharedLocal: true },
      file: 'x.json',
    })
  })

  it('manages tokens', () => {
    expect(parse('token', 'add', 'ann', '--data-dir', '/d')).toMatchObject({
      command: 'token add',
      user: 'ann',
      flags: { dataDir: '/d' },
    })
    expect(parse('token', 'list').command).toBe('token list')
  })
})

describe('wrong command lines', () => {
  it('names the nearest flag, also of another command', () => {
    expect(usage('http', '--prot', '1')).toBe(
      "unknown option '--prot'. The nearest one is --port; atelier http --help lists all.",
    )
    expect(usage('--agnet', 'x')).toContain('The nearest one is --agent; atelier stdio --help')
    expect(usage('--port', '1')).toContain('The nearest one is --port of atelier http')
  })

  it('names the nearest command', () => {
    expect(usage('toekn', 'add', 'bob')).toContain('nearest to "toekn" is token')
    expect(usage('token', 'ad', 'bob')).toContain('add')
    const program = createProgram('1', () => {})
    expect(commandHint(program, 'htpp')).toBe('\nDid you mean the command http?')
    expect(commandHint(program, 'projects')).toBe('\nThere is no command "projects" either; atelier --help lists all.')
    for (const word of [undefined, 'http', './projects', '--x']) expect(commandHint(program, word)).toBe('')
  })

  it('says what is missing', () => {
    expect(usage('token', 'add')).toBe("missing required argument 'user'. atelier token add --help shows how.")
    expect(usage('http', '--data-dir')).toContain('argument missing')
    expect(usage('token')).toBe('token needs one of add, remove, list. atelier token --help shows how.')
  })
})

describe('client entries', () => {
  const invitation = {
    url: 'http://127.0.0.1:1/mcp',
    needsToken: true,
    tokenNote: 'note',
    node: '/bin/node',
    program: '/dist/loader.cjs',
  }

  it('gives entries that parse, with absolute paths and the token', () => {
    const text = clientEntries({ ...invitation, token: 'atl_x' })
    const entries = text
      .split('\n')
      .filter(line => line.startsWith('  {'))
      .map(line => JSON.parse(line).mcpServers.atelier)
    expect(entries).toEqual([
      { type: 'http', url: invitation.url, headers: { Authorization: 'Bearer atl_x' } },
      { command: '/bin/node', args: ['/dist/loader.cjs', 'stdio'] },
    ])
    expect(clientEntries({ ...invitation, token: 'atl_x', directory: '/p' })).toContain('"stdio","--directory","/p"]')
    expect(text).toContain(`claude mcp add --transport http atelier ${invitation.url} --header "Authorization: Bearer atl_x"`)
  })

  it('shows a place for a token that it does not know, and none where none is needed', () => {
    expect(clientEntries({ ...invitation, token: undefined })).toContain('Bearer <token>')
    expect(clientEntries({ ...invitation, token: undefined, needsToken: false })).not.toContain('Bearer')
  })
})
