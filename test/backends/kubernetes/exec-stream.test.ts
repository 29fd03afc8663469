import { EventEmitter } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ExecStream } from '../../../src/backends/kubernetes/exec-stream.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'

/** A websocket that keeps what is sent, and hands each part on when it is told to. */
class FakeSocket extends EventEmitter {
  sent: Buffer[] = []
  isPaused = false
  terminated = false
  waiting: (() => void)[] = []
  send(data: Buffer, done?: () => void) {
    this.sent.push(Buffer.from(data))
    if (done !== undefined) this.waiting.push(done)
  }
  flush() {
    for (const done of this.waiting.splice(0)) done()
  }
  ping() {}
  pause() {
    this.isPaused = true
  }
  resume() {
    this.isPaused = false
  }
  terminate() {
    this.terminated = true
  }
}

function opened(explain?: (error: WorkspaceError) => Promise<WorkspaceError>) {
  const stderr: string[] = []
  const stream = new ExecStream({ onStderr: part => stderr.push(String(part)), explain })
  const socket = new FakeSocket()
  stream.open(socket as never)
  return { stream, socket, stderr }
}
const SUCCESS = Buffer.from('{"status":"Success"}')
const broken = (stream: ExecStream) =>
  new Promise<WorkspaceError>(resolve => stream.once('error', resolve as (error: Error) => void))

test('channels are told apart, also when they come before the stream is open; the status ends it', async () => {
  const stderr: string[] = []
  const stream = new ExecStream({ onStderr: part => stderr.push(String(part)) })
  stream.receive(1, Buffer.from('early '))
  const socket = new FakeSocket()
  stream.open(socket as never)
  stream.receive(2, Buffer.from('complaint'))
  stream.receive(1, Buffer.from('late'))
  stream.receive(9, Buffer.from('?'))
  stream.receive(3, SUCCESS)
  stream.receive(1, Buffer.from('after the end'))
  expect([String(await buffer(stream)), stderr]).toEqual(['early late', ['complaint']])
  expect(socket.terminated).toBe(true)
})

test('what is written goes in parts of one channel, one write at a time; the end is a message of its own', async () => {
  const { stream, socket } = opened()
  stream.write(Buffer.alloc(300_000, 'a'))
  stream.write('b')
  expect(socket.sent.map(({ length }) => length)).toEqual([131_073, 131_073, 37_857])
  socket.flush()
  await new Promise(resolve => setImmediate(resolve))
  expect(socket.sent.at(-1)?.toString()).toBe('\0b')
  stream.end()
  socket.flush()
  await new Promise(resolve => setImmediate(resolve))
  expect(socket.sent.at(-1)).toEqual(Buffer.from([255, 0]))
  stream.destroy()
})

test('a reader that stops holds the socket back', async () => {
  const { stream, socket } = opened()
  while (!socket.isPaused) stream.receive(1, Buffer.alloc(65_536))
  stream.read()
  stream.resume()
  await new Promise(resolve => setImmediate(resolve))
  expect(socket.isPaused).toBe(false)
  stream.destroy()
})

test('a socket that is cut breaks the stream, with what it really means', async () => {
  const plain = opened()
  const first = broken(plain.stream)
  plain.socket.emit('close', 1006)
  expect(await first).toMatchObject({ code: 'unavailable', message: expect.stringContaining('1006') })

  const { stream, socket } = opened(async () => new WorkspaceError('environment_lost', 'the Pod was evicted'))
  const second = broken(stream)
  socket.emit('error', new Error('ECONNRESET'))
  expect(await second).toMatchObject({ code: 'environment_lost' })
})

test('a process that could not be started breaks it too; one that fails only ends it', async () => {
  const none = opened()
  const error = broken(none.stream)
  none.stream.receive(3, Buffer.from('{"status":"Failure","reason":"InternalError","message":"no such container"}'))
  expect(await error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('no such container') })

  const { stream } = opened()
  stream.receive(3, Buffer.from('{"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}'))
  expect(String(await buffer(stream))).toBe('')
})

test('one that opens after it was given up is closed at once', () => {
  const stream = new ExecStream({ onStderr: () => {} })
  stream.destroy()
  const socket = new FakeSocket()
  stream.open(socket as never)
  expect(socket.terminated).toBe(true)
})
