import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  configReference,
  describeConfig,
  environmentName,
  flagName,
  type LoadOptions,
  loadConfig,
  SETTING_KEYS,
} from '../../src/config.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'

let cwd: string
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-config-')))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const load = (options: Partial<LoadOptions> = {}) => loadConfig({ mode: 'http', env: { HOME: '/nobody' }, cwd, ...options })
const withFile = (content: unknown) =>
  writeFileSync(join(cwd, 'atelier.config.json'), typeof content === 'string' ? content : JSON.stringify(content))
function problem(options: Partial<LoadOptions>): string {
  try {
    load(options)
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_argument' })
    return (error as Error).message
  }
  throw new Error('It was accepted.')
}

describe('sources', () => {
  it('lets flags win over the environment, that over the file, and the file over defaults', () => {
    withFile({ port: 1, maxSessions: 1, bodyMaxBytes: '1MiB', $schema: 'x' })
    const config = load({ env: { ATELIER_PORT: '2', ATELIER_MAX_SESSIONS: '2' }, flags: { port: '3' } })
    expect(config).toMatchObject({ port: 3, maxSessions: 2, bodyMaxBytes: 1024 ** 2, host: '127.0.0.1' })
    const sourceOf = (key: 'port' | 'maxSessions' | 'bodyMaxBytes' | 'host') => config.sources.get(key)
    expect([sourceOf('port'), sourceOf('maxSessions'), sourceOf('host')]).toEqual([
      'flag --port',
      'ATELIER_MAX_SESSIONS',
      'default',
    ])
    expect(sourceOf('bodyMaxBytes')).toBe(`bodyMaxBytes in ${join(cwd, 'atelier.config.json')}`)
  })

  it('reads another file when asked to, and then insists on it', () => {
    writeFileSync(join(cwd, 'other.json'), '{"port": 9}')
    expect(load({ file: 'other.json' }).port).toBe(9)
    expect(load({ env: { ATELIER_CONFIG: 'other.json' } }).port).toBe(9)
    expect(problem({ file: 'missing.json' })).toContain(join(cwd, 'missing.json'))
  })

  it('takes lists, switches and structures from the environment', () => {
    const env = {
      ATELIER_ALLOWED_HOSTS: 'a.example, b.example:80',
      ATELIER_ALLOW_SHARED_LOCAL: 'yes',
      ATELIER_MCP_SERVERS: '{"x":{"command":"y"}}',
    }
    const config = load({ env })
    expect(config.allowedHosts).toEqual(['a.example', 'b.example:80'])
    expect(config.allowSharedLocal).toBe(true)
    expect(config.mcpServers).toEqual({ x: { command: 'y' } })
  })

  it('counts paths of the file from the file, others from the current directory, and knows the home directory', () => {
    withFile({ dataDir: 'data', skillPaths: ['skills', '/abs'] })
    expect(load()).toMatchObject({ dataDir: join(cwd, 'data'), skillPaths: [join(cwd, 'skills'), '/abs'] })
    expect(load({ flags: { dataDir: 'elsewhere' } }).dataDir).toBe(join(cwd, 'elsewhere'))
    expect(load({ flags: { dataDir: '~/x' } }).dataDir).not.toContain('~')
  })

  it('warns of unknown variables with our prefix, and never of others', () => {
    const { warnings } = load({ env: { ATELIER_PROT: '1', ATELIER_RUN: 'x', PATH: '/bin' } })
    expect(warnings).toEqual(['Unknown environment variable ATELIER_PROT. Did you mean ATELIER_PORT?'])
  })
})

describe('errors', () => {
  it('tells all problems at once, each with source, value and what is allowed', () => {
    withFile({ prot: 1, policy: 'per_planet', mcpServers: { a: { args: 'x' } } })
    const message = problem({ env: { ATELIER_GRACE_MS: 'soon' }, flags: { port: '70000' } })
    expect(message).toContain(`Unknown key "prot" in ${join(cwd, 'atelier.config.json')}. Did you mean port?`)
    expect(message).toContain('"per_planet" is not allowed. Allowed: one of per_session, per_agent, per_user.')
    expect(message).toContain('mcpServers.a.args')
    expect(message).toMatch(/ATELIER_GRACE_MS: "soon" is not allowed. Allowed: a time/)
    expect(message).toContain('flag --port: 70000 is not allowed. Allowed: a whole number from 0 to 65535.')
  })

  it('never shows a secret', () => {
    withFile({ mcpServers: { a: { url: 'nowhere', headers: { Authorization: 'hidden-1' } } } })
    expect(problem({})).toMatch(/^(?!.*hidden-1).*mcpServers\.a: its url must begin with/s)
    withFile({})
    expect(problem({ env: { ATELIER_TOKEN: 'shortsecret' } })).not.toContain('shortsecret')
  })

  it('names a file that is no JSON or no object', () => {
    withFile('{"port": ')
    expect(problem({})).toMatch(/atelier\.config\.json is no JSON/)
    withFile('[]')
    expect(problem({})).toMatch(/must hold one JSON object/)
  })

  it('takes a file that begins with a byte order mark', () => {
    withFile(`\ufeff${JSON.stringify({ logLevel: 'warn' })}`)
    expect(load({}).logLevel).toBe('warn')
  })

  it('sees limits that contradict each other', () => {
    expect(problem({ flags: { commandTimeoutMs: '1h' } })).toMatch(/commandTimeoutMs .* larger than commandMaxTimeoutMs/)
  })
})

describe('values', () => {
  it.each([
    ['30s', 30_000],
    ['15m', 900_000],
    ['1.5h', 5_400_000],
    ['250', 250],
    ['250ms', 250],
  ])('reads the time %s', (given, ms) => {
    expect(load({ flags: { softLimitMs: given } }).limits.softLimitMs).toBe(ms)
  })

  it.each([
    ['64MiB', 64 * 1024 ** 2],
    ['2k', 2_048],
    ['3 MB', 3_000_000],
    ['5000', 5_000],
  ])('reads the size %s', (given, bytes) => {
    expect(load({ flags: { bodyMaxBytes: given } }).bodyMaxBytes).toBe(bytes)
  })

  it('gives back any whole number of ms as it is, and refuses what is none', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e12 }),
        ms => load({ flags: { softLimitMs: String(ms) } }).limits.softLimitMs === ms,
      ),
    )
    for (const bad of ['', '-1', '1e3', '5 parsecs', 'NaN', '0x10'])
      expect(problem({ flags: { softLimitMs: bad } })).toContain('--soft-limit-ms')
  })
})

describe('defaults', () => {
  it('has every limit, with a short grace time for local workspaces of a stdio server alone', () => {
    expect(load().limits).toEqual(DEFAULT_LIMITS)
    expect(load({ mode: 'http' }).localLimits).toEqual({})
    for (const backend of ['local', 'docker']) {
      const { limits, localLimits } = load({ mode: 'stdio', flags: { backend } })
      expect(limits).toEqual(DEFAULT_LIMITS)
      expect(localLimits).toEqual({ graceMs: 30_000 })
    }
    const given = load({ mode: 'stdio', env: { ATELIER_GRACE_MS: '5s' } })
    expect(given.limits.graceMs).toBe(5_000)
    expect(given.localLimits).toEqual({})
  })

  it('works in the current directory on stdio, unless nobody can mean that', () => {
    expect(load({ mode: 'stdio' }).directory).toBe(cwd)
    expect(load({ mode: 'http' }).directory).toBeUndefined()
    const atHome = load({ mode: 'stdio', env: { HOME: cwd } })
    expect([atHome.directory, atHome.warnings[0]]).toEqual([undefined, expect.stringContaining('is the home directory')])
    expect(load({ mode: 'stdio', cwd: '/' }).warnings[0]).toContain('is the root')
    expect(problem({ flags: { directory: 'missing' } })).toContain(`flag --directory: ${join(cwd, 'missing')} does not exist.`)
  })

  it('keeps data where the system keeps it', () => {
    expect(load({ env: { XDG_DATA_HOME: '/data' } }).dataDir).toBe('/data/atelier')
  })

  it('hides own variables and keys of backends from commands', () => {
    const env = {
      PATH: '/bin',
      ATELIER_TOKEN: 'x'.repeat(20),
      E2B_API_KEY: 'k',
      DAYTONA_API_KEY: 'k',
      OPEN_SANDBOX_API_KEY: 'k',
      MY_API_KEY: 'mine',
    }
    expect(load({ env }).hostEnv).toEqual({ PATH: '/bin', MY_API_KEY: 'mine' })
  })
})

describe('reference and dump', () => {
  it('derives the three names of a setting from its key', () => {
    expect([environmentName('bodyMaxBytes'), flagName('bodyMaxBytes')]).toEqual(['ATELIER_BODY_MAX_BYTES', '--body-max-bytes'])
    const names = configReference().map(row => row.environment)
    expect(new Set(names).size).toBe(SETTING_KEYS.length)
    for (const row of configReference()) expect(row.doc).toMatch(/\.$/)
  })

  it('shows no secret', () => {
    withFile({
      env: { KEY: 'hidden-1' },
      mcpServers: {
        a: { command: 'x', env: { T: 'hidden-2' } },
        b: { url: 'http://u', headers: { A: 'hidden-3' }, apiKey: 'hidden-4' },
      },
    })
    const dump = JSON.stringify(describeConfig(load({ flags: { token: 'hidden-5-hidden-5' } })))
    expect(dump).not.toContain('hidden')
    expect(dump).toContain('"command":"x"')
  })
})
