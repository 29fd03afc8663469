import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Channel } from '../../src/gateway/wire-channel.ts'
import { Credit, Inbox, MAX_STREAM_CREDIT, STREAM_CREDIT, sendWithCredit } from '../../src/gateway/wire-credit.ts'
import { checkFrame, MAX_CHUNK_BYTES, parseLine } from '../../src/gateway/wire-frame.ts'
import { Heartbeat } from '../../src/gateway/wire-heartbeat.ts'
import { readMessage } from '../../src/gateway/wire-message.ts'
import { messagePayloads, Outbox } from '../../src/gateway/wire-outbox.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { MAX_LINE_BYTES } from '../../src/lib/frames.ts'

describe('frames', () => {
  it('are found behind a prompt, and nothing else is taken for one', () => {
    expect(parseLine('user@host:~$ {"d":"g","t":"T","k":"ping"}')).toEqual({ d: 'g', t: 'T', k: 'ping' })
    for (const line of ['', 'hello', '{"d":"g"', '{"d":"x","t":"T","k":"ping"}', '{"jsonrpc":"2.0"}', '[1]', 'null']) {
      expect(parseLine(line)).toBeUndefined()
    }
  })

  it('with a bad field are refused, whatever the field holds', () => {
    const numbers = fc.constantFrom(-1, 0.5, '1', null, {}, [], 2 ** 60)
    fc.assert(
      fc.property(numbers, bad => {
        expect(() => checkFrame({ d: 'g', t: 'T', k: 'a', a: bad })).toThrow(WorkspaceError)
        expect(() => checkFrame({ d: 'g', t: 'T', k: 'm', s: bad, a: 0, m: {} })).toThrow(WorkspaceError)
      }),
    )
    expect(() => checkFrame({ d: 'g', t: 'T', k: 'm', s: 1, a: 0, i: 1, b: MAX_CHUNK_BYTES + 1 })).toThrow('bad field "b"')
    expect(() => checkFrame({ d: 'g', t: 'T', k: 'constructor' })).toThrow('unknown kind')
  })
})

describe('messages', () => {
  it('outside the four outlines are refused', () => {
    const outlines = [{}, { jsonrpc: '2.0' }, { jsonrpc: '1.0', id: 1, method: 'x' }, { jsonrpc: '2.0', id: 'a', result: 1 }]
    for (const message of outlines) expect(() => readMessage(message)).toThrow('no JSON-RPC')
  })

  it('carry unknown error codes as internal errors', () => {
    const read = readMessage({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'odd', data: { code: 'toString' } } })
    expect(read).toMatchObject({ kind: 'error', error: { code: 'internal', message: 'odd' } })
  })

  it('fit their lines, whatever they hold', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 2000 }),
        (text, times) => {
          const payloads = messagePayloads({ text: text.repeat(times) })
          for (const payload of payloads) expect('fields' in payload && payload.fields.length <= MAX_LINE_BYTES - 200).toBe(true)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('the outbox', () => {
  it('lets control go ahead of bulk, even when bulk has filled its part of the window', () => {
    const outbox = new Outbox(64 * 1024)
    for (let part = 0; part < 20; part++) outbox.add({ call: 1, data: Buffer.alloc(10_000) }, 'bulk')
    let sent = 0
    while (outbox.next() !== undefined) sent++
    expect(sent).toBeLessThan(6)
    outbox.add({ fields: '"m":{}' }, 'control')
    expect(outbox.next()?.payload).toEqual({ fields: '"m":{}' })
    expect(outbox.next()).toBeUndefined()
    outbox.acknowledge(outbox.last)
    expect(outbox.next()).toBeDefined()
  })

  it('never has more unacknowledged than the window', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: MAX_CHUNK_BYTES }), { maxLength: 60 }), sizes => {
        const outbox = new Outbox(100_000)
        let acknowledged = 0
        for (const size of sizes) outbox.add({ call: 1, data: Buffer.alloc(size) }, 'bulk')
        for (let left = sizes.length; left > 0; ) {
          for (let item = outbox.next(); item !== undefined; item = outbox.next()) left--
          const open = outbox.unacknowledged.reduce((sum, { bytes }) => sum + bytes, 0)
          expect(open).toBeLessThanOrEqual(100_000)
          acknowledged += 1
          outbox.acknowledge(Math.min(acknowledged, outbox.last))
        }
      }),
    )
  })

  it('refuses an acknowledgement of what was never sent', () => {
    expect(() => new Outbox(100_000).acknowledge(1)).toThrow(WorkspaceError)
  })
})

describe('a channel', () => {
  const message = (s: number, n: number) => ({ k: 'm' as const, s, a: 0, m: { n } })

  it('drops what it had and refuses a gap', () => {
    const got: unknown[] = []
    const channel = new Channel({ message: value => got.push(value.n), chunk() {} })
    for (const [seq, n] of [
      [1, 1],
      [2, 2],
      [1, 1],
      [2, 2],
      [3, 3],
    ] as const)
      channel.receive(message(seq, n), 10)
    expect(got).toEqual([1, 2, 3])
    expect(() => channel.receive(message(5, 5), 10)).toThrow('lost frames 4 to 4')
    channel.detach()
  })

  it('refuses pieces that make no message', () => {
    const channel = new Channel({ message() {}, chunk() {} })
    expect(() => channel.receive({ k: 'm', s: 1, a: 0, p: '{"broken', more: false }, 10)).toThrow('no JSON')
    channel.detach()
  })

  it('refuses to send what no peer would take', () => {
    const channel = new Channel({ message() {}, chunk() {} })
    expect(() => channel.send({ text: 'x'.repeat(65 * 1024 * 1024) })).toThrow(expect.objectContaining({ code: 'too_large' }))
  })
})

describe('credit', () => {
  it('is never exceeded, and everything arrives in order', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(sizes, async chunks => {
        const credit = new Credit()
        const inbox = new Inbox(bytes => credit.grant(bytes))
        let held = 0
        const sender = (async () => {
          const write = (part: Uint8Array): void => {
            inbox.push(part)
            held += part.length
          }
          for (const size of chunks) await sendWithCredit(credit, new Uint8Array(size), write)
          inbox.end()
        })()
        let got = 0
        for await (const part of inbox) {
          expect(held).toBeLessThanOrEqual(MAX_STREAM_CREDIT * 1.5)
          await new Promise(resolve => setImmediate(resolve))
          held -= part.length
          got += part.length
        }
        await sender
        expect(got).toBe(chunks.reduce((sum, size) => sum + size, 0))
      }),
      { numRuns: 20 },
    )
  })

  it('grows for a reader that keeps pace, and for no other', async () => {
    const granted = { fast: 0, slow: 0 }
    const fast = new Inbox(bytes => (granted.fast += bytes))
    const reader = fast[Symbol.asyncIterator]()
    const part = new Uint8Array(STREAM_CREDIT / 2)
    for (let taken = 0; taken < 20; taken++) {
      const next = reader.next()
      fast.push(part)
      await next
    }
    const open = STREAM_CREDIT + granted.fast - 20 * part.length
    expect(open).toBeGreaterThan(MAX_STREAM_CREDIT / 2 - 2 * part.length)
    expect(open).toBeLessThanOrEqual(MAX_STREAM_CREDIT)
    const slow = new Inbox(bytes => (granted.slow += bytes))
    const late = slow[Symbol.asyncIterator]()
    slow.push(part)
    slow.push(part)
    await late.next()
    await late.next()
    expect(granted.slow).toBe(part.length)
  })

  it('refuses a sender that ignores it', () => {
    const inbox = new Inbox(() => {})
    inbox.push(new Uint8Array(STREAM_CREDIT))
    expect(() => inbox.push(new Uint8Array(1))).toThrow('more of a stream')
  })

  it('fails those who wait when nobody reads any more', async () => {
    const credit = new Credit()
    credit.take(STREAM_CREDIT)
    const waiting = credit.ready()
    credit.fail(() => new WorkspaceError('unavailable', 'gone'))
    await expect(waiting).rejects.toThrow('gone')
  })
})

describe('a heartbeat', () => {
  function start() {
    const seen: string[] = []
    const clock = { now: 0 }
    const actions = { ask: () => seen.push('ask'), dead: () => seen.push('dead'), now: () => clock.now }
    const heartbeat = new Heartbeat({ intervalMs: 15_000, deadMs: 45_000 }, actions)
    const pass = (ms: number): void => {
      for (let left = ms; left > 0; left -= 5000) {
        clock.now += 5000
        heartbeat.tick()
      }
    }
    return { seen, clock, heartbeat, pass }
  }

  it('asks a silent peer, and gives it up later', () => {
    const { seen, heartbeat, pass } = start()
    pass(10_000)
    expect(seen).toEqual([])
    pass(10_000)
    expect(seen).toEqual(['ask', 'ask'])
    heartbeat.heard()
    pass(40_000)
    expect(seen).not.toContain('dead')
    pass(5000)
    expect(seen).toContain('dead')
    heartbeat.stop()
  })

  it('counts no gap of its own clock against the peer', () => {
    const { seen, clock, heartbeat, pass } = start()
    pass(10_000)
    clock.now += 3_600_000
    heartbeat.tick()
    expect(seen).toEqual(['ask'])
    pass(40_000)
    expect(seen).not.toContain('dead')
    heartbeat.stop()
  })
})
