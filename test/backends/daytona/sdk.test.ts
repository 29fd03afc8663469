import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { Calls } from '../../../src/backends/daytona/calls.ts'
import { createDaytonaBackend } from '../../../src/backends/daytona/daytona.ts'
import { AnswerError } from '../../../src/backends/daytona/errors.ts'
import { importSdk } from '../../../src/backends/import-sdk.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { failure } from './support.ts'

test('a package that is not there is told with the command that installs it, in either module format', async () => {
  const load = async () => createRequire(import.meta.url)('@daytonaio/none')
  for (const how of [load, undefined]) {
    expect(await failure(importSdk('daytona', '@daytonaio/none', how))).toMatchObject({
      code: 'unsupported',
      hint: expect.stringContaining('npm install @daytonaio/none'),
    })
  }
})

test('without a key, or with half of what goes in its place, it is not set up', async () => {
  const find = (settings: object) => failure(createDaytonaBackend({ ...settings, logger: silentLogger }).find('ws-x'))
  expect(await find({})).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('DAYTONA_API_KEY') })
  expect(await find({ jwtToken: 'x' })).toMatchObject({
    code: 'unsupported',
    hint: expect.stringContaining('DAYTONA_ORGANIZATION_ID'),
  })
})

test('a request is repeated only where that does no harm, and a limit is waited for no longer than patience goes', async () => {
  const calls = new Calls(['secret'])
  let tries = 0
  const failing =
    (status: number, headers = {}) =>
    async () => {
      tries += 1
      throw new AnswerError('the secret is out', status, headers)
    }
  const count = async (run: () => Promise<unknown>) => {
    tries = 0
    const error = await failure(run())
    return { error, tries }
  }
  const once = await count(() => calls.run('It', failing(502)))
  expect([once.error.code, once.error.message, once.tries]).toEqual(['unavailable', 'It: the *** is out.', 1])
  expect((await count(() => calls.run('It', failing(502), { repeatable: true }))).tries).toBe(4)
  expect((await count(() => calls.run('It', failing(400), { repeatable: true }))).tries).toBe(1)
  const limited = await count(() => calls.run('It', failing(429, { 'retry-after': '90' })))
  expect([limited.error.code, limited.tries]).toEqual(['limit_exceeded', 1])
  expect(limited.error.hint).toContain('1.5 min')
  const late = await count(() => calls.run('It', failing(429, { 'retry-after': '1' }), { patienceMs: 2_500 }))
  expect(late.tries).toBe(3)
})

test('an abort gives up the wait, not the request', async () => {
  const controller = new AbortController()
  const calls = new Calls()
  const waiting = calls.run('It', () => Promise.reject(new AnswerError('x', 429, { 'retry-after': '50' })), {
    signal: controller.signal,
  })
  setTimeout(() => controller.abort(), 20)
  expect(await failure(waiting)).toMatchObject({ code: 'cancelled' })
})
