import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Channel, type Port } from '../../src/gateway/wire-channel.ts'
import { Credit, Inbox, MAX_STREAM_CREDIT } from '../../src/gateway/wire-credit.ts'

const WINDOW = 64 * 1024
const STREAMS = 2
/** Room of a message's envelope in the outbox. */
const ENVELOPE = 200

const CYCLE = Buffer.from(Array.from({ length: 251 }, (_, index) => index))

interface Written {
  kind: string
  fields: string
  body: Buffer | undefined
}

/** Two channels; what one writes waits in a queue until it is delivered, or is lost with its stream. */
class Pair {
  readonly got: { numbers: number[]; bytes: number[] } = { numbers: [], bytes: Array(STREAMS).fill(0) }
  readonly sent = { numbers: 0, bytes: Array<number>(STREAMS).fill(0) }
  readonly credits = Array.from({ length: STREAMS }, () => new Credit())
  /** Chunks that are not what was sent at their place. */
  wrong = 0
  readonly sender: Channel
  readonly receiver: Channel
  #toReceiver: Written[] = []
  #toSender: Written[] = []
  readonly #inboxes: Inbox[]
  readonly #readers: AsyncIterator<Uint8Array>[]
  readonly held = Array<number>(STREAMS).fill(0)

  constructor() {
    const grant = ({ id, bytes }: { id: number; bytes: number }): void => this.credits[id]?.grant(bytes)
    this.sender = new Channel({ message: message => grant(message as never), chunk() {} }, WINDOW)
    this.receiver = new Channel(
      {
        message: message => this.got.numbers.push(message.n as number),
        chunk: (id, bytes) => {
          if (!bytes.equals(pattern(this.got.bytes[id] as number, bytes.length))) this.wrong++
          ;(this.got.bytes[id] as number) += bytes.length
          this.#inboxes[id]?.push(bytes)
          ;(this.held[id] as number) += bytes.length
        },
      },
      WINDOW,
    )
    this.#inboxes = this.credits.map((_, id) => new Inbox(bytes => this.receiver.send({ id, bytes })))
    this.#readers = this.#inboxes.map(inbox => inbox[Symbol.asyncIterator]())
    this.attach(true)
  }

  /** A new stream; what is under way on the old one is lost. A sender that was never welcomed does not know what arrived. */
  attach(blind = false, binary = true): void {
    this.#toReceiver = []
    this.#toSender = []
    this.sender.detach()
    this.receiver.detach()
    this.sender.attach(portInto(this.#toReceiver, binary), blind ? undefined : this.receiver.received)
    this.receiver.attach(portInto(this.#toSender, binary), this.sender.received)
  }

  deliver(frames: number): void {
    for (let left = frames; left > 0; left--) {
      pass(this.#toReceiver.shift(), this.receiver)
      pass(this.#toSender.shift(), this.sender)
    }
  }

  message(size: number): void {
    this.sender.send({ n: ++this.sent.numbers, text: 'x'.repeat(size) })
  }

  /** As much of `size` bytes as the stream's reader lets through. */
  stream(id: number, size: number): void {
    const credit = this.credits[id] as Credit
    const bytes = pattern(this.sent.bytes[id] as number, Math.max(0, Math.min(size, credit.left)))
    ;(this.sent.bytes[id] as number) += bytes.length
    credit.take(bytes.length)
    this.sender.sendChunk(id, bytes)
  }

  async read(id: number): Promise<void> {
    if (this.held[id] === 0) return
    const { value } = await (this.#readers[id] as AsyncIterator<Uint8Array>).next()
    ;(this.held[id] as number) -= value.length
  }
}

/** `size` bytes of an endless stream that repeats itself after 251 bytes, from `at` on. */
function pattern(at: number, size: number): Buffer {
  const start = at % CYCLE.length
  return Buffer.alloc(size + start, CYCLE).subarray(start)
}

function portInto(queue: Written[], binary: boolean): Port {
  return { binary, write: (kind, fields, body) => void queue.push({ kind, fields, body }) }
}

function pass(written: Written | undefined, to: Channel): void {
  if (written === undefined) return
  to.receive({ k: written.kind, ...JSON.parse(`{${written.fields}}`) }, written.fields.length, written.body)
}

const id = fc.integer({ min: 0, max: STREAMS - 1 })
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('deliver' as const), frames: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('message' as const), size: fc.integer({ min: 0, max: 5000 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('stream' as const), id, size: fc.integer({ min: 1, max: 150_000 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), blind: fc.boolean(), binary: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function play(pair: Pair, step: Step): Promise<void> {
  if (step.do === 'deliver') pair.deliver(step.frames)
  else if (step.do === 'message') pair.message(step.size)
  else if (step.do === 'stream') pair.stream(step.id, step.size)
  else if (step.do === 'read') await pair.read(step.id)
  else if (step.do === 'cut') pair.attach(step.blind, step.binary)
  else await vi.advanceTimersByTimeAsync(30)
}

describe('a channel over streams that break', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('delivers everything once and in order, and holds no more than the windows and credits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async steps => {
        const pair = new Pair()
        let messages = 0
        for (const step of steps) {
          if (step.do === 'message') messages += step.size + ENVELOPE
          await play(pair, step)
          expect(pair.sender.unacknowledgedBytes).toBeLessThanOrEqual(WINDOW)
          expect(pair.receiver.unacknowledgedBytes).toBeLessThanOrEqual(WINDOW)
          expect(pair.sender.backlog).toBeLessThanOrEqual(WINDOW + STREAMS * MAX_STREAM_CREDIT + messages)
          for (const held of pair.held) expect(held).toBeLessThanOrEqual(MAX_STREAM_CREDIT)
        }
        for (let turn = 0; turn < 40 && pair.sender.backlog > 0; turn++) {
          pair.deliver(100)
          await vi.advanceTimersByTimeAsync(30)
        }
        expect(pair.sender.backlog).toBe(0)
        expect(pair.wrong).toBe(0)
        expect(pair.got.numbers).toEqual(Array.from({ length: pair.sent.numbers }, (_, index) => index + 1))
        expect(pair.got.bytes).toEqual(pair.sent.bytes)
        pair.sender.detach()
        pair.receiver.detach()
      }),
      { numRuns: 150, interruptAfterTimeLimit: 8000 },
    )
  }, 30_000)
})
