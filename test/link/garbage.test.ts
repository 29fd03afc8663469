import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Handlers } from '../../src/gateway/dispatch.ts'
import { ServerLink } from '../../src/gateway/link-server-link.ts'
import { Channel } from '../../src/gateway/wire-channel.ts'
import { Credit, MAX_STREAM_CREDIT } from '../../src/gateway/wire-credit.ts'
import { MAX_PIECES } from '../../src/gateway/wire-frame.ts'
import { WireStream } from '../../src/gateway/wire-stream.ts'
import type { WorkspaceError } from '../../src/lib/errors.ts'
import { Calls } from '../../src/link/calls.ts'
import { chaosPipe } from '../gateway/support/chaos-pipe.ts'

const quiet = { cutAfter: Number.POSITIVE_INFINITY, maxRead: 4096, echo: false, text: false, noise: false }

/** One end of a link that reads what the other writes; resolves with why its stream ended. */
function endThatReads(side: 'h' | 'g', lines: (string | Uint8Array)[]): Promise<WorkspaceError | undefined> {
  const [near, far] = chaosPipe(quiet)
  far.on('error', () => {}).resume()
  const calls = new Calls(() => {})
  const channel =
    side === 'h'
      ? new Channel({ message: message => calls.message(message), chunk: (id, bytes) => calls.chunk(id, bytes) })
      : new ServerLink('l', {} as Handlers, { opened() {} }).channel
  if (side === 'h') calls.make('command.run', {}, { channel, onChunk() {} }).catch(() => {})
  return new Promise(resolve => {
    const wire = new WireStream(near, {
      ...{ side, ...(side === 'h' ? { tag: 'T' } : {}), heartbeat: { intervalMs: 1e6, deadMs: 1e7 } },
      frame: (frame, size, body) => {
        if (frame.k === 'm' || frame.k === 'a') channel.receive(frame, size, body)
      },
      closed: error => {
        channel.detach()
        resolve(error)
      },
    })
    channel.attach(wire)
    for (const line of lines) far.write(line)
    far.end('\n')
  })
}

function frame(side: 'h' | 'g', kind: string, fields: object): string {
  return `${JSON.stringify({ d: side === 'h' ? 'g' : 'h', t: 'T', k: kind, ...fields })}\n`
}

describe('either end of a link', () => {
  it('is through with any garbage in bounded time and memory', async () => {
    const numbers = fc.oneof(fc.double(), fc.integer({ min: -3, max: 30_000 }), fc.constantFrom(1, 2))
    const fields = fc.dictionary(
      fc.constantFrom('s', 'a', 'm', 'p', 'more', 'i', 'c', 'b', 'code', 'mode', 'protocol', 'link', 'window', 'message'),
      fc.oneof(numbers, fc.jsonValue()),
    )
    const kind = fc.constantFrom('m', 'a', 'bye', 'refuse', 'welcome', 'probe', 'binary', 'ping', 'x', '__proto__', 'hello')
    const sides = fc.constantFrom<'h' | 'g'>('h', 'g')
    await fc.assert(
      fc.asyncProperty(
        sides,
        fc.array(fc.record({ kind, fields }), { maxLength: 5 }),
        fc.uint8Array(),
        async (side, sent, raw) => {
          const lines = sent.map(({ kind, fields }) => frame(side, kind, fields))
          const first = side === 'g' ? [frame('g', 'retire', {})] : []
          const error = await endThatReads(side, [...first, ...lines, raw])
          expect(error?.name ?? 'WorkspaceError').toBe('WorkspaceError')
        },
      ),
      { numRuns: 500 },
    )
  }, 60_000)

  it.each([0.5, 1e15, -1, 'x', [1], {}])('takes no body where none belongs, its size being %j', async size => {
    const lines = [
      frame('h', 'a', { a: 0, b: size }),
      'xx\n',
      frame('h', 'ping', { b: size }),
      'xx\n',
      frame('h', 'a', { a: 'end' }),
    ]
    expect(await endThatReads('h', lines)).toMatchObject({ code: 'protocol', message: expect.stringContaining('bad field "a"') })
  })

  it('ends a stream of pieces that never become a message', async () => {
    const [link, sink] = [[] as unknown[], { message: () => void link.push(1), chunk() {} }]
    const channel = new Channel(sink)
    const send = (count: number): void => {
      for (let s = 1; s <= count; s++) channel.receive({ k: 'm', s, a: 0, p: '', more: true }, 40)
    }
    expect(() => send(MAX_PIECES + 1)).toThrow('too large')
    expect(link).toEqual([])
    channel.detach()
  })

  it('takes no chunk in more parts than the largest one has', () => {
    const chunks: number[] = []
    const channel = new Channel({ message() {}, chunk: (_call, bytes) => void chunks.push(bytes.length) })
    const part = { k: 'm', s: 1, a: 0, i: 1, c: Buffer.alloc(100).toString('base64'), more: true } as const
    const send = (count: number): void => {
      for (let sent = 0; sent < count; sent++) channel.receive(part, 200)
    }
    expect(() => send(4)).toThrow('too many parts')
    expect(chunks).toEqual([])
    channel.detach()
  })

  it('takes no empty chunk, of which any number would fit a stream’s credit', () => {
    const channel = new Channel({ message() {}, chunk() {} })
    expect(() => channel.receive({ k: 'm', s: 1, a: 0, i: 1, c: '' }, 40)).toThrow('a chunk of 0 bytes')
    channel.detach()
  })
})

describe('a sender', () => {
  it('holds no more than the credit of a stream, whatever it is granted', () => {
    const credit = new Credit()
    credit.grant(1e12)
    expect(credit.left).toBe(MAX_STREAM_CREDIT)
  })

  it('fails new calls when the gateway takes nothing', async () => {
    const calls = new Calls(() => {})
    const channel = new Channel({ message() {}, chunk() {} })
    const content = 'x'.repeat(20 * 1024 * 1024)
    const made = Array.from({ length: 4 }, () => calls.make('file.write', { content }, { channel }).catch(error => error))
    await expect(calls.make('ping', {}, { channel })).rejects.toMatchObject({ code: 'unavailable' })
    expect(channel.backlog).toBeLessThan(90 * 1024 * 1024)
    calls.fail((await calls.make('ping', {}, { channel }).catch(error => error)) as WorkspaceError)
    await Promise.all(made)
  })

  it('gives no peer a window beyond reason', () => {
    const channel = new Channel({ message() {}, chunk() {} })
    channel.window = Number.MAX_SAFE_INTEGER
    channel.attach({ binary: true, write() {} })
    for (let part = 0; part < 1000; part++) channel.sendChunk(1, new Uint8Array(24_000))
    expect(channel.unacknowledgedBytes).toBeLessThanOrEqual(16 * 1024 * 1024)
    channel.detach()
  })
})
