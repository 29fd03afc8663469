import { Duplex, PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExecStream } from '../../../src/backends/docker/exec-stream.ts'

const frame = (channel: number, payload: Uint8Array): Buffer => {
  const header = Buffer.alloc(8)
  header[0] = channel
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

/** An engine's socket: what is written to `engine` comes to the reader, what the reader writes is kept. */
function pair() {
  const toHost = new PassThrough()
  const written: Buffer[] = []
  const socket = Duplex.from({
    readable: toHost,
    writable: new PassThrough().on('data', chunk => written.push(chunk as Buffer)),
  }) as Duplex
  return { socket, toHost, written }
}

test('frames of any size, cut anywhere, give the bytes of each channel in order', async () => {
  const frames = fc.array(fc.record({ channel: fc.constantFrom(1, 2), payload: fc.uint8Array({ maxLength: 300 }) }), {
    maxLength: 40,
  })
  await fc.assert(
    fc.asyncProperty(frames, fc.integer({ min: 1, max: 97 }), async (parts, step) => {
      const { socket, toHost } = pair()
      const stderr: Buffer[] = []
      const stream = new ExecStream(socket, part => stderr.push(Buffer.from(part)))
      const wire = Buffer.concat(parts.map(({ channel, payload }) => frame(channel, payload)))
      for (let at = 0; at < wire.length; at += step) toHost.write(wire.subarray(at, at + step))
      toHost.end()
      const of = (wanted: number) => Buffer.concat(parts.filter(each => each.channel === wanted).map(each => each.payload))
      expect(await buffer(stream)).toEqual(of(1))
      expect(Buffer.concat(stderr)).toEqual(of(2))
    }),
    { numRuns: 60 },
  )
})

test('tens of thousands of tiny frames in one chunk, and one huge frame in many', async () => {
  const { socket, toHost } = pair()
  const stream = new ExecStream(socket, () => {})
  const tiny = Buffer.concat(Array.from({ length: 50_000 }, () => frame(1, Buffer.from('x'))))
  const huge = frame(1, Buffer.alloc(8 * 1024 ** 2, 'y'))
  toHost.write(tiny)
  for (let at = 0; at < huge.length; at += 65_536) toHost.write(huge.subarray(at, at + 65_536))
  toHost.end()
  expect((await buffer(stream)).length).toBe(50_000 + 8 * 1024 ** 2)
})

test('a reader that stops holds the socket back', async () => {
  const { socket, toHost } = pair()
  new ExecStream(socket, () => {})
  let sent = 0
  while (sent < 200 && toHost.write(frame(1, Buffer.alloc(65_536)))) {
    sent += 1
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(sent).toBeLessThan(200)
})

test('ending half-closes, destroying closes', async () => {
  const { socket, toHost, written } = pair()
  const stream = new ExecStream(socket, () => {})
  stream.end('input')
  await new Promise(resolve => stream.once('finish', resolve))
  expect(Buffer.concat(written).toString()).toBe('input')
  toHost.write(frame(1, Buffer.from('answer')))
  toHost.end()
  expect((await buffer(stream)).toString()).toBe('answer')
  const other = pair()
  new ExecStream(other.socket, () => {}).destroy()
  expect(other.socket.destroyed).toBe(true)
})
