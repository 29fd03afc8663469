// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are meant for declarations
import { describe, expect, it } from 'vitest'
import { fillIn, namedVariables } from '../../../src/lib/variables.ts'
import { Backoff } from '../../../src/workspace/nested-servers/backoff.ts'
import { withoutValues } from '../../../src/workspace/nested-servers/declaration.ts'
import { startParams } from '../../../src/workspace/nested-servers/start-params.ts'

const scope = { agent: '', session: '' }

describe('declarations of nested servers', () => {
  it('show no value that may be a secret, and every reference', () => {
    const shown = withoutValues({
      name: 'x',
      url: 'https://user:pw@h/sse?key=abc&mode=${MODE}#x',
      headers: { Authorization: 'Bearer abc', 'X-Ref': 'Bearer ${TOKEN}' },
    })
    expect(shown).toEqual({
      name: 'x',
      url: 'https://(hidden)@h/sse?key=(hidden)&mode=${MODE}#x',
      headers: { Authorization: '(hidden)', 'X-Ref': 'Bearer ${TOKEN}' },
    })
    const args = ['--api-key', 'abc', '--token=abc', '--port', '80', '--secret=${S}']
    expect(withoutValues({ name: 'x', command: 'c', args, env: { A: 'abc', B: '${B}' } })).toEqual({
      ...{ name: 'x', command: 'c', env: { A: '(hidden)', B: '${B}' } },
      args: ['--api-key', '(hidden)', '--token=(hidden)', '--port', '80', '--secret=${S}'],
    })
  })

  it("give npx its yes, and go by a url's path where no type is given", () => {
    const declared = (declaration: object) => {
      const one = { declaration: { name: 'x', ...declaration }, source: 'config' as const }
      return startParams(scope, one, { host: { A: 'a' }, secrets: {} }).declaration
    }
    expect(declared({ command: 'npx', args: ['server'] })).toMatchObject({ args: ['-y', 'server'] })
    expect(declared({ command: '/usr/bin/npx', args: ['--yes', 'server'] })).toMatchObject({ args: ['--yes', 'server'] })
    expect(declared({ url: 'https://h/sse?x=/mcp' })).toMatchObject({ type: 'sse', fallback: true })
    expect(declared({ url: 'https://h/messages/' })).toMatchObject({ type: 'sse', fallback: true })
    expect(declared({ url: 'https://h/mcp?x=/sse' })).toMatchObject({ type: 'http', fallback: true })
    expect(declared({ url: 'https://h/sse', type: 'http' })).toEqual({ type: 'http', url: 'https://h/sse', headers: {} })
    expect(declared({ command: 'c', args: ['${A}'], cwd: '${A:-x}' })).toMatchObject({ args: ['a'], cwd: 'a' })
    expect(() => declared({ command: '${B}' })).toThrow(/B \(in its command\)/)
  })

  it('send only the secrets that they name', () => {
    const one = { declaration: { name: 'x', command: 'c', args: ['${A}'] }, source: 'added' as const }
    const sources = { host: { A: 'host', C: 'host' }, secrets: { A: 'a', B: 'b' } }
    expect(startParams(scope, one, sources)).toMatchObject({ declaration: { args: ['${A}'] }, variables: { A: 'a' } })
    expect(startParams(scope, one, { ...sources, secrets: { A: 'other' } }).hash).not.toBe(startParams(scope, one, sources).hash)
  })
})

describe('variables in a text', () => {
  it('are filled in, with defaults for those unset or empty', () => {
    const missing: string[] = []
    const fill = (text: string) => fillIn(text, { A: 'a', EMPTY: '' }, name => missing.push(name))
    expect(fill('${A}-${A:-x}-${EMPTY:-y}-${EMPTY}-${NONE:-}-$A-{A}-${1}')).toBe('a-a-y---$A-{A}-${1}')
    expect(missing).toEqual([])
    expect(fill('${constructor}${NONE}')).toBe('')
    expect(missing).toEqual(['constructor', 'NONE'])
    expect(namedVariables('${A} ${B:-c}')).toEqual(['A', 'B'])
  })
})

describe('the back-off', () => {
  it('waits longer each time, and tells when it is too long to wait', () => {
    const backoff = new Backoff()
    expect(backoff.pause('x')).toBe(0)
    backoff.failed('no')
    expect(backoff.pause('x')).toBeGreaterThan(0)
    for (let round = 0; round < 5; round++) backoff.failed('no config')
    expect(() => backoff.pause('x')).toThrow(/"x" failed 6 times in a row: no config/)
    backoff.ended('gone', { ranMs: 10, answered: true })
    expect(backoff.pause('x')).toBe(0)
    backoff.ended('gone', { ranMs: 10, answered: false })
    expect(backoff.pause('x')).toBeGreaterThan(0)
  })
})
