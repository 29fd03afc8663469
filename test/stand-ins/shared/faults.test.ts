import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Faults } from './faults.ts'
import { type RunningStandIn, sendJson, serve } from './server.ts'

let faults: Faults
let server: RunningStandIn
let effects: string[]

beforeEach(async () => {
  effects = []
  faults = new Faults((code, message) => ({ statusCode: code, message }))
  server = await serve({
    faults,
    deeds: { pause: async id => void effects.push(`pause ${id}`) },
    async answer({ method, path }, response) {
      effects.push(`${method} ${path}`)
      if (path === '/silent') return void response.writeHead(200).write('x')
      if (path !== '/long') return sendJson(response, 200, { fine: true })
      response.writeHead(200)
      for (let left = 20; left > 0; left -= 1) {
        response.write('x'.repeat(1_000))
        await new Promise(resolve => setTimeout(resolve, 10))
      }
      response.end()
    },
  })
})
afterEach(() => server[Symbol.asyncDispose]())

const set = (rule: object) => fetch(`${server.url}/__faults`, { method: 'POST', body: JSON.stringify(rule) })
const get = (path: string) => fetch(`${server.url}${path}`)

/** What arrives of an answer until it ends or breaks, for at most a second. */
const arrives = (path: string) =>
  new Promise<{ bytes: number; ended: boolean; broken: boolean }>(resolve => {
    const seen = { bytes: 0, ended: false, broken: false }
    const sent = request(`${server.url}${path}`, response => {
      response.on('data', (chunk: Buffer) => {
        seen.bytes += chunk.length
      })
      response.once('end', () => {
        seen.ended = true
      })
      response.once('error', () => {
        seen.broken = true
      })
      response.once('close', () => resolve(seen))
    })
    sent.once('error', () => resolve({ ...seen, broken: true }))
    sent.end()
    setTimeout(() => sent.destroy(), 1_000)
  })

test('a rule counts for the requests that match, as often as it says, in the form of the service', async () => {
  await set({ match: '^GET /a', status: 429, retryAfter: 7, times: 2, message: 'slow down' })
  expect((await get('/b')).status).toBe(200)
  const first = await get('/a')
  expect([first.status, first.headers.get('retry-after'), await first.json()]).toEqual([
    ...[429, '7', { statusCode: 429, message: 'slow down' }],
  ])
  expect((await get('/a?x=1')).status).toBe(429)
  expect((await get('/a')).status).toBe(200)
  expect(effects).toEqual(['GET /b', 'GET /a'])
})

test('an answer is late, reset before the effect, or lost after it', async () => {
  await set({ latencyMs: 200 })
  const start = performance.now()
  await get('/late')
  expect(performance.now() - start).toBeGreaterThan(190)
  await set({ reset: true })
  await expect(get('/reset')).rejects.toThrow()
  await set({ loseAnswer: true })
  await expect(get('/lost')).rejects.toThrow()
  expect(effects).toEqual(['GET /late', 'GET /lost'])
})

test('a stream is cut after so many bytes or so long, or goes silent and stays', async () => {
  expect(await arrives('/long')).toEqual({ bytes: 20_000, ended: true, broken: false })
  await set({ resetAfterBytes: 4_500 })
  const cut = await arrives('/long')
  expect(cut).toMatchObject({ ended: false, broken: true })
  expect(cut.bytes).toBeLessThanOrEqual(4_500)
  await set({ resetAfterMs: 60 })
  expect(await arrives('/long')).toMatchObject({ ended: false, broken: true })
  await set({ muteAfterMs: 60 })
  const silent = await arrives('/long')
  expect(silent.ended).toBe(false)
  expect(silent.bytes).toBeGreaterThan(0)
  expect(silent.bytes).toBeLessThan(20_000)
})

test('a connection is cut when nothing moves on it for too long, and when it is struck', async () => {
  await set({ match: 'long', idleCutMs: 100 })
  expect(await arrives('/long')).toMatchObject({ ended: true })
  await set({ match: 'silent', idleCutMs: 100 })
  expect(await arrives('/silent')).toMatchObject({ bytes: 1, broken: true })
  await set({ match: 'silent', onStrike: 'reset' })
  const struck = arrives('/silent')
  await new Promise(resolve => setTimeout(resolve, 100))
  await fetch(`${server.url}/__faults/strike`, { method: 'POST' })
  expect(await struck).toMatchObject({ bytes: 1, broken: true })
  expect(faults.struck).toBe(2)
})

test('modes, deeds and what is left are set and shown at the control endpoints', async () => {
  await fetch(`${server.url}/__faults/modes`, { method: 'PUT', body: '{"listLagMs":5}' })
  expect(faults.modes).toEqual({ listLagMs: 5 })
  await fetch(`${server.url}/__faults/pause/a%2Fb`, { method: 'POST' })
  expect(effects).toEqual(['pause a/b'])
  await set({ status: 500 })
  expect(await (await get('/__faults')).json()).toMatchObject({ rules: [{ status: 500 }], modes: { listLagMs: 5 } })
  await fetch(`${server.url}/__faults`, { method: 'DELETE' })
  expect((await get('/x')).status).toBe(200)
  expect((await fetch(`${server.url}/__faults/nonsense/x`, { method: 'POST' })).status).toBe(404)
})
