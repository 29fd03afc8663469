import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backends/backend.ts'
import { createDaytonaBackend } from '../../../src/backends/daytona/daytona.ts'
import type { DaytonaSettings } from '../../../src/backends/daytona/settings.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS } from '../../../src/workspace/limits.ts'
import { openWorkspace } from '../../../src/workspace/workspace.ts'
import { createWorld, MISSING, OWNER, sh, type World } from './support.ts'

const { DAYTONA_API_KEY: apiKey, DAYTONA_API_URL: apiUrl, DAYTONA_TARGET: target } = process.env
/** Nobody else's workspaces are touched. */
const namespace = `test-${randomBytes(4).toString('hex')}`
const where = apiKey === undefined ? 'the stand-in (the service itself where DAYTONA_API_KEY is set)' : 'the service itself'

describe.skipIf(apiKey === undefined && MISSING !== '')(`daytona: a whole life on ${where}`, () => {
  let world: World
  let settings: DaytonaSettings
  let backend: Backend

  beforeAll(async () => {
    world = await createWorld()
    const real = { ...(apiUrl === undefined ? {} : { apiUrl }), ...(target === undefined ? {} : { target }) }
    settings = { namespace, ...(apiKey === undefined ? world.account : { apiKey, ...real }) }
    backend = createDaytonaBackend({ ...settings, logger: silentLogger })
  })
  afterAll(async () => {
    for await (const { id, name, owner } of backend.list({})) await (await backend.provision({ id, name, owner })).destroy()
    await world.remove()
  })

  const open = (id: string) =>
    openWorkspace(
      createDaytonaBackend({ ...settings, logger: silentLogger }),
      { id, name: id, owner: OWNER },
      {
        ...{ limits: DEFAULT_LIMITS, env: {}, owner: 'test', confine: 'none', goodbye: 'end', logger: silentLogger },
        connect: (environment, given) =>
          connectGateway(environment, { ...given, gatewayScript: join(world.base, 'gateway.mjs') }),
      },
    )

  test('it is probed, made, worked in, closed, found again with its files, and deleted', async () => {
    expect((await backend.probe()).every(({ ok }) => ok)).toBe(true)
    const workspace = await open('ws-life')
    expect(await sh(workspace, 'echo kept > file; echo "ä $((6 * 7))"')).toBe('ä 42')
    expect(await sh(workspace, 'seq 1 100000 | sha256sum; seq 1 100000')).toContain('100000')
    await workspace.close()
    expect(await backend.find('ws-life')).toMatchObject({ state: 'suspended' })
    const again = await open('ws-life')
    expect(await sh(again, 'cat file')).toBe('kept')
    await again.destroy()
    expect(await backend.find('ws-life')).toBeUndefined()
  }, 900_000)

  test('two hosts at once get the same sandbox', async () => {
    const [a, b] = await Promise.all([open('ws-two'), open('ws-two')])
    expect(a.info.incarnation).toBe(b.info.incarnation)
    await sh(a, 'echo a > a')
    expect(await sh(b, 'cat a')).toBe('a')
    await Promise.all([a.detach(), b.destroy()])
  }, 900_000)

  test('all bytes pass through a terminal as they are', async () => {
    const environment = await backend.provision({ id: 'ws-raw', name: 'raw', owner: OWNER })
    const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, at) => at % 256))
    const stream = await environment.openStream(['cat'])
    stream.write(bytes)
    let got = Buffer.alloc(0)
    for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      got = Buffer.concat([got, part])
      if (got.length >= bytes.length) break
    }
    expect(got.equals(bytes)).toBe(true)
    stream.destroy()
    await environment.destroy()
  }, 900_000)
})
