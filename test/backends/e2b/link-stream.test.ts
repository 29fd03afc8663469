import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Input } from '../../../src/backends/e2b/input.ts'
import { LinkStream } from '../../../src/backends/e2b/link-stream.ts'
import type { CommandHandle } from '../../../src/backends/e2b/sdk.ts'

/** A process that only says what was done to it. */
function stubProcess() {
  const done: string[] = []
  const written: Buffer[] = []
  let release: (() => void) | undefined
  let slow = false
  const note = (what: string) => async () => void done.push(what)
  const handle = { pid: 1, kill: note('kill'), disconnect: note('disconnect') } as unknown as CommandHandle
  const input: Input = {
    async write(data) {
      written.push(Buffer.from(data))
      if (slow) await new Promise<void>(resolve => (release = resolve))
    },
    end: note('end'),
    close: () => void done.push('close'),
  }
  const stream = new LinkStream()
  stream.use(handle, input)
  const pause = () => {
    slow = true
  }
  const proceed = () => {
    slow = false
    release?.()
  }
  return { stream, done, written, pause, proceed }
}

describe('a process of a sandbox as a stream', () => {
  test('writes one after the other, and what waited meanwhile together', async () => {
    const { stream, written, pause, proceed } = stubProcess()
    pause()
    stream.write('a')
    for (const letter of 'bcdef') stream.write(letter)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(written.map(String)).toEqual(['a'])
    proceed()
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(written.map(String)).toEqual(['a', 'bcdef'])
    stream.write(Buffer.alloc(600_000))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(written.slice(2).map(({ length }) => length)).toEqual([262_144, 262_144, 75_712])
    stream.destroy()
  })

  test('holds up a process whose reader is slow, and lets it go on', async () => {
    const { stream } = stubProcess()
    let waiting: Promise<void> | undefined
    let taken = 0
    while (waiting === undefined && taken < 100) {
      waiting = stream.receive(Buffer.alloc(100_000)) ?? undefined
      taken += 1
    }
    expect(taken).toBeLessThan(15)
    let size = 0
    stream.on('data', (chunk: Buffer) => (size += chunk.length))
    await waiting
    stream.finish()
    await once(stream, 'close')
    expect(size).toBe(taken * 100_000)
  })

  test('destroyed, it ends the process; ended, it closes its input first', async () => {
    const one = stubProcess()
    one.stream.destroy()
    await once(one.stream, 'close')
    expect(one.done).toEqual(['close', 'kill', 'disconnect'])
    const two = stubProcess()
    two.stream.end()
    await once(two.stream, 'finish')
    expect(two.done).toEqual(['end'])
    two.stream.destroy()
  })

  test('a process that has ended is not killed, and takes no more output', async () => {
    const { stream, done } = stubProcess()
    stream.resume()
    stream.finish()
    expect(stream.receive(Buffer.from('late'))).toBeUndefined()
    await once(stream, 'close')
    expect(done).not.toContain('kill')
  })
})
