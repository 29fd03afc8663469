import { describe, expect, it, vi } from 'vitest'
import type { Handlers } from '../../src/gateway/dispatch.ts'
import { Life } from '../../src/gateway/life.ts'
import { LinkServer } from '../../src/gateway/link-server.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { LinkClient } from '../../src/link/client.ts'
import { chaosPipe } from '../gateway/support/chaos-pipe.ts'

// These tests need a protocol that has a predecessor.
vi.mock('../../src/gateway/protocol.ts', async original => ({
  ...(await original<object>()),
  PROTOCOL_VERSION: 2,
  OLDEST_PROTOCOL_VERSION: 1,
}))

const quiet = { cutAfter: Number.POSITIVE_INFINITY, maxRead: 65_536, echo: false, text: false, noise: false }

/** A gateway of a build in this process; `ended` is why it gave way. */
function gateway(version: string, options: { busy?: boolean; replaceable?: boolean } = {}) {
  const handlers = {
    open: async () => ({
      ...{ instance: version, version, pid: 1, platform: 'p', workdir: '/', root: '/', shell: null, ripgrep: null, jobs: [] },
    }),
  } as Partial<Handlers> as Handlers
  const state = { ended: undefined as string | undefined }
  const work = { linkLost() {}, inherit() {}, end: async () => {}, busy: () => options.busy === true }
  const life = new Life({ work, idleMs: 1e9, sound: () => true, end: reason => Object.assign(state, { ended: reason }) })
  const { replaceable = true } = options
  const server = new LinkServer({ instance: version, version, handlers, life, log: silentLogger, replaceable })
  return { server, life, state }
}

/** A client of build `build` that dials these gateways in turn. */
function clientOf(build: string, gateways: ReturnType<typeof gateway>[]): LinkClient {
  let dials = 0
  return new LinkClient({
    dial: async () => {
      const [near, far] = chaosPipe(quiet)
      const next = gateways[Math.min(dials++, gateways.length - 1)] as ReturnType<typeof gateway>
      next.server.accept(far)
      return { stream: near, clean: false }
    },
    open: { owner: 'o', env: {}, graceMs: 1000 },
    ...{ reconnectMs: 5000, logger: silentLogger, build },
  })
}

describe('a daemon of another build', () => {
  async function meet(build: string, options: { busy?: boolean; replaceable?: boolean }) {
    const [old, fresh] = [gateway('1.0.0', options), gateway('2.0.0')]
    const client = clientOf(build, [old, fresh])
    const { version } = await client.opened()
    await client.close('detach')
    for (const { life } of [old, fresh]) life.finish('over')
    return { version, ended: old.state.ended }
  }

  it('gives way to the host’s own when nothing runs and no host is there', async () => {
    expect(await meet('2.0.0', {})).toEqual({ version: '2.0.0', ended: 'replaced by another build' })
  })

  it.each([
    ['while something runs', '2.0.0', { busy: true }],
    ['where it is the main process', '2.0.0', { replaceable: false }],
    ['to a build from source', 'dev', {}],
    ['to its own build', '1.0.0', {}],
  ])('serves on and does not give way %s', async (_, build, options) => {
    expect(await meet(build, options)).toEqual({ version: '1.0.0', ended: 'over' })
  })

  it('does not give way while another host is there', async () => {
    const old = gateway('1.0.0')
    const first = clientOf('1.0.0', [old])
    await first.opened()
    const second = clientOf('2.0.0', [old])
    expect((await second.opened()).version).toBe('1.0.0')
    expect(old.state.ended).toBeUndefined()
    // The goodbye tells who is left.
    expect(await first.close('detach')).toBe(1)
    expect(await second.close('detach')).toBe(0)
    old.life.finish('over')
  })
})

describe('a daemon that is ending', () => {
  it('takes no host in, which finds the next one', async () => {
    const [ending, fresh] = [gateway('1.0.0'), gateway('1.0.0')]
    ending.life.finish('the last host left')
    const client = clientOf('1.0.0', [ending, fresh])
    await client.opened()
    expect([ending.server.links, fresh.server.links]).toEqual([0, 1])
    await client.close('detach')
    fresh.life.finish('over')
  })
})

describe('the protocol of a link', () => {
  async function greet(protocol: number, oldest: number): Promise<Record<string, unknown>> {
    const { server, life } = gateway('1.0.0')
    const [near, far] = chaosPipe(quiet)
    server.accept(far)
    const hello = { protocol, oldest, link: 'l', epoch: 1, resume: false, received: 0, window: 65_536, binary: false }
    near.write(`${JSON.stringify({ d: 'h', t: 'T', k: 'hello', ...hello })}\n`)
    const answer = await new Promise<string>(resolve => near.once('data', data => resolve(String(data))))
    life.finish('over')
    near.destroy()
    return JSON.parse(answer)
  }

  it.each([
    ['the same', 2, 1, 2],
    ['one older than the gateway’s', 1, 1, 1],
    ['one newer, which still speaks this one', 3, 2, 2],
  ])('is the newest of both, the host’s being %s', async (_, protocol, oldest, chosen) => {
    expect(await greet(protocol, oldest)).toMatchObject({ k: 'welcome', protocol: chosen })
  })

  it.each([
    ['too new', 4, 3],
    ['too old', 0, 0],
  ])('is none where the host’s is %s', async (_, protocol, oldest) => {
    const message = `The gateway speaks protocol 1 to 2, the host ${oldest} to ${protocol}`
    expect(await greet(protocol, oldest)).toMatchObject({ k: 'refuse', code: 'version', message })
  })

  it.each([
    [1, 'precondition_failed'],
    [2, 'precondition_failed'],
    [0, 'unavailable'],
    [3, 'unavailable'],
  ])('may be %i by the gateway’s choice or not', async (protocol, code) => {
    const client = new LinkClient({
      dial: async () => {
        const [near, far] = chaosPipe(quiet)
        far.on('error', () => {})
        far.once('data', data => {
          const { t } = JSON.parse(String(data).trim().split('\n')[0] as string)
          const say = (k: string, fields: object): boolean => far.write(`${JSON.stringify({ d: 'g', t, k, ...fields })}\n`)
          say('welcome', { protocol, instance: 'i', received: 0 })
          say('refuse', { code: 'failed', message: 'welcomed' })
        })
        return { stream: near, clean: false }
      },
      open: { owner: 'o', env: {}, graceMs: 1000 },
      ...{ reconnectMs: 50, logger: silentLogger },
    })
    await expect(client.opened()).rejects.toMatchObject({ code })
  })
})
