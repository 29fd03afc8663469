import type { Duplex } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/lib/log.ts'
import { LinkClient } from '../../src/link/client.ts'
import { chaosPipe } from '../gateway/support/chaos-pipe.ts'

const quiet = { cutAfter: Number.POSITIVE_INFINITY, maxRead: 4096, echo: false, text: false, noise: false }

/** A client of a gateway that is played by `act`, which gets a writer of frames and each frame that came. */
function clientOf(
  act: (say: (kind: string, fields?: object) => void, frame: Record<string, unknown>, stream: Duplex) => void,
  reconnectMs = 500,
) {
  return new LinkClient({
    dial: async () => {
      const [near, far] = chaosPipe(quiet)
      let held = ''
      far.on('error', () => {})
      far.on('data', data => {
        held += data
        const lines = held.split('\n')
        held = lines.pop() as string
        for (const line of lines.filter(line => line.startsWith('{'))) {
          const frame = JSON.parse(line)
          act((k, fields = {}) => far.write(`${JSON.stringify({ d: 'g', t: frame.t, k, ...fields })}\n`), frame, far)
        }
      })
      return { stream: near, clean: false }
    },
    open: { owner: 'o', env: {}, graceMs: 1000 },
    ...{ reconnectMs, logger: silentLogger },
  })
}
const welcome = { protocol: 1, instance: 'i', received: 0 }
const opened = {
  instance: 'i',
  version: 'v',
  pid: 1,
  platform: 'p',
  workdir: '/',
  root: '/',
  shell: null,
  ripgrep: null,
  jobs: [],
}

describe('a client of an untrustworthy gateway', () => {
  it('survives any frame and any garbage, and ends with a typed error', async () => {
    const fields = fc.dictionary(
      fc.constantFrom('s', 'a', 'm', 'p', 'more', 'i', 'c', 'b', 'code', 'mode', 'protocol'),
      fc.jsonValue(),
    )
    const kinds = fc.constantFrom('m', 'a', 'bye', 'refuse', 'welcome', 'probe', 'binary', 'ping', 'x', '__proto__')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ kinds, fields }), { maxLength: 5 }),
        fc.uint8Array(),
        fc.boolean(),
        async (frames, bytes, welcomes) => {
          const client = clientOf((say, frame, stream) => {
            if (frame.k !== 'hello') return
            if (welcomes) say('welcome', welcome)
            for (const { kinds, fields } of frames) say(kinds, fields)
            stream.write(Buffer.from(bytes))
            stream.end('\n')
          }, 20)
          await expect(client.call('ping', {})).rejects.toMatchObject({ name: 'WorkspaceError' })
          await client.close('detach')
        },
      ),
      { numRuns: 40, interruptAfterTimeLimit: 30_000 },
    )
  }, 60_000)

  it('refuses a result of the wrong shape, and the link goes on', async () => {
    let number = 0
    await using client = clientOf((say, frame) => {
      if (frame.k === 'hello') say('welcome', welcome)
      if (frame.k === 'bye') say('bye', { mode: frame.mode })
      const message = frame.m as { id: number; method: string } | undefined
      if (message === undefined) return
      const result = message.method === 'open' ? opened : message.method === 'ping' ? { now: 'late' } : { jobs: [] }
      say('m', { s: ++number, a: frame.s, m: { jsonrpc: '2.0', id: message.id, result } })
    })
    await expect(client.call('ping', {})).rejects.toMatchObject({ code: 'protocol', message: expect.stringContaining('"now"') })
    expect((await client.call('job.list', {})).jobs).toEqual([])
  }, 30_000)

  it('gives up a stream that goes beyond its credit', async () => {
    let hellos = 0
    const client = clientOf((say, frame) => {
      if (frame.k === 'hello' && hellos++ === 0) say('welcome', welcome)
      const message = frame.m as { id: number; method: string } | undefined
      if (message?.method !== 'command.run') return
      for (let s = 1; s <= 10; s++) say('m', { s, a: frame.s, i: message.id, c: Buffer.alloc(20_000).toString('base64') })
    })
    const call = client.call(
      'command.run',
      { session: 's', command: 'x', headBytes: 1, tailBytes: 1 },
      { onChunk: () => new Promise(() => {}) },
    )
    await expect(call).rejects.toMatchObject({ code: 'environment_lost' })
    expect(hellos).toBeGreaterThan(1)
  }, 30_000)

  it('asks a gateway of another protocol to give way, and says so when that is in use', async () => {
    const asked: unknown[] = []
    const client = clientOf((say, frame) => {
      asked.push(frame.k)
      if (frame.k === 'hello') say('refuse', { code: 'version', message: 'The gateway speaks protocol 7' })
      if (frame.k === 'retire') say('refuse', { code: 'busy', message: 'in use' })
    })
    await expect(client.opened()).rejects.toMatchObject({
      code: 'unsupported',
      message: 'The gateway speaks protocol 7, and it is in use',
    })
    expect(asked).toContain('retire')
  }, 30_000)
})
