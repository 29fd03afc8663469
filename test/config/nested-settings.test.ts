import { describe, expect, it } from 'vitest'
import { declarationsOf, serversSchema } from '../../src/config/nested-settings.ts'

describe('nested servers in the configuration', () => {
  const read = (servers: object) => declarationsOf(serversSchema.parse(servers))
  const faults = (servers: object) =>
    serversSchema.safeParse(servers).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)

  it("have the shape of Claude Desktop's file", () => {
    expect(
      read({
        files: { command: 'npx', args: ['-y', 'server'], env: { A: 'b' } },
        far: { url: 'https://h/mcp', headers: { X: 'y' } },
      }),
    ).toEqual([
      { name: 'files', command: 'npx', args: ['-y', 'server'], env: { A: 'b' } },
      { name: 'far', url: 'https://h/mcp', headers: { X: 'y' } },
    ])
  })

  it('take what Atelier adds, and the names that others have for the transports', () => {
    const more = { enable_tools: ['a'], disable_tools: ['b'], expose: 'bare', startTimeoutMs: 5, callTimeoutMs: 6 }
    expect(
      read({
        one: { url: 'http://h', type: 'streamable-http', ...more },
        two: { url: 'http://h', type: 'sse' },
        three: { command: 'x', type: 'stdio' },
      }),
    ).toEqual([
      {
        name: 'one',
        url: 'http://h',
        type: 'http',
        enableTools: ['a'],
        disableTools: ['b'],
        expose: 'bare',
        startTimeoutMs: 5,
        callTimeoutMs: 6,
      },
      { name: 'two', url: 'http://h', type: 'sse' },
      { name: 'three', command: 'x' },
    ])
  })

  it('leave out what is disabled', () => {
    expect(read({ off: { command: 'x', disabled: true } })).toEqual([])
  })

  it('are refused with server and reason', () => {
    expect(faults({ a: {}, 'b c': { command: 'x' }, c: { command: 'x', url: 'http://h' }, d: { url: 'ftp://h' } })).toEqual([
      'a: it needs either a command or a url',
      expect.stringMatching(/^b c: its name must be/),
      'c: it needs either a command or a url',
      'd: its url must begin with http:// or https://',
    ])
    expect(faults({ a: { command: 'x', enableTools: ['y'], autoApprove: [] } })).toEqual([
      'a.enableTools: unknown; did you mean enable_tools?',
    ])
  })
})
