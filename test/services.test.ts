import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { createLogger, createServices } from '../src/services.ts'

/** Collects log lines; `lines(n)` waits for the n-th. */
function collector() {
  const lines: Record<string, unknown>[] = []
  let wake = (): void => {}
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line))
      wake()
      done()
    },
  })
  const get = async (count: number) => {
    while (lines.length < count) await new Promise<void>(resolve => (wake = resolve))
    return lines
  }
  return { destination, get }
}

it('logs structured lines in order, from the level on, without secrets', async () => {
  const { destination, get } = collector()
  const logger = createLogger('info', destination)
  logger.debug({}, 'below the level')
  logger.info({ tool: 'Bash', token: 'hidden-1' }, 'first')
  logger.child({ part: 'http' }).warn({ request: { authorization: 'hidden-2' }, env: { A: 'hidden-3' } }, 'second')
  logger.error({ err: new Error('boom') }, 'third')
  const lines = await get(3)
  expect(lines.map(line => line.msg)).toEqual(['first', 'second', 'third'])
  expect(lines[0]).toMatchObject({ level: 30, tool: 'Bash', token: '(secret)' })
  expect(lines[1]).toMatchObject({ part: 'http' })
  expect(lines[2]).toMatchObject({ err: { message: 'boom' } })
  expect(JSON.stringify(lines)).not.toContain('hidden')
})

it('puts the parts together, and lets go of them', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'atelier-services-'))
  try {
    const flags = { dataDir: join(dir, 'data'), logLevel: 'silent', directory: dir, softLimitMs: '5s' }
    const services = await createServices(
      loadConfig({ mode: 'stdio', flags, env: { HOME: dir, PATH: '/usr/bin:/bin' }, cwd: dir }),
    )
    expect(services.limits.softLimitMs).toBe(5_000)
    const scope = { user: 'me', agent: '', session: '' }
    expect(await services.manager.defaultId(scope)).toBe(await services.manager.defaultId(scope))
    await services[Symbol.asyncDispose]()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
