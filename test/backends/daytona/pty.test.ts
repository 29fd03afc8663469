import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Environment } from '../../../src/backends/backend.ts'
import { createWorld, failure, MISSING, onStandIn, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onStandIn('daytona: the bytes of a program on a terminal'), () => {
  let world: World
  let environment: Environment

  beforeAll(async () => {
    world = await createWorld()
    environment = await world.backend().provision(world.spec('ws-pty'))
  })
  afterAll(() => world?.remove())

  const text = async (script: string) =>
    Buffer.from((await environment.exec(['sh', '-c', script])).stdout)
      .toString()
      .trim()
  const running = (command: string) => text(`pgrep -cfx '${command}' || true`)
  const terminals = async () => (await (await world.client.get('atelier-ws-pty')).process.listPtySessions()).length

  /** All bytes up to the end, or up to so many. */
  async function read(stream: Duplex, bytes = Infinity): Promise<Buffer> {
    const parts: Buffer[] = []
    let size = 0
    for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      parts.push(part)
      size += part.length
      if (size >= bytes) break
    }
    return Buffer.concat(parts)
  }

  test('are the same both ways, whatever their value, and nothing comes before them', async () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, value) => value))
    const stream = await environment.openStream(['cat'])
    stream.write(all)
    expect(await read(stream, 256)).toEqual(all)
    stream.destroy()
  })

  test('a long write goes up whole and in order, in messages that the other end takes', async () => {
    const data = randomBytes(3_000_001)
    const stream = await environment.openStream(['sh', '-c', `head -c ${data.length} | sha256sum`])
    stream.write(data.subarray(0, 1_000_000))
    stream.write(data.subarray(1_000_000))
    expect((await read(stream)).toString()).toContain(createHash('sha256').update(data).digest('hex'))
  })

  test('its arguments arrive as they are, its error output does not', async () => {
    const odd = ['a b', "it's", '$HOME', '`x`', '"', '\\', '*', 'ä', '']
    const stream = await environment.openStream(['sh', '-c', 'echo no >&2; printf "<%s>" "$@"', 'sh', ...odd])
    expect((await read(stream)).toString()).toBe(odd.map(part => `<${part}>`).join(''))
    expect(await failure(environment.openStream(['echo', 'two\nlines']))).toMatchObject({ code: 'invalid_argument' })
    expect(await failure(environment.openStream(['echo', 'x'.repeat(5_000)]))).toMatchObject({ code: 'invalid_argument' })
  })

  test('the last bytes before an end arrive, though the service loses what is late', async () => {
    world.modes({ loseTailMs: 40 })
    for (const code of [0, 3]) {
      const stream = await environment.openStream(['sh', '-c', `head -c 100000 /dev/zero; printf tail; exit ${code}`])
      const got = await read(stream)
      expect([got.length, got.subarray(-4).toString()]).toEqual([100_004, 'tail'])
    }
    world.modes({})
  })

  test('a start-up file that talks, and one that reads a line, do no harm', async () => {
    await text('printf \'echo "welcome {\\"k\\":1}"; stty -a; printf "\\\\001"\\n\' > ~/.bash_profile')
    const stream = await environment.openStream(['sh', '-c', 'printf clean'])
    expect((await read(stream)).toString()).toBe('clean')
    await text('echo exit 5 > ~/.bash_profile')
    const error = await failure(environment.openStream(['true']))
    expect(error).toMatchObject({ code: 'internal', message: expect.stringContaining('its shell ended with 5') })
    await text('rm ~/.bash_profile')
    expect(await terminals()).toBe(0)
  })

  test('destroying it ends the program, not what the program left behind, and leaves no terminal', async () => {
    const stream = await environment.openStream(['sh', '-c', 'setsid sleep 8811 & exec sleep 8822'])
    await vi.waitFor(async () => expect(await running('sleep 88[12]*')).toBe('2'), 10_000)
    stream.destroy()
    await vi.waitFor(async () => expect(await running('sleep 8822')).toBe('0'), 20_000)
    expect(await running('sleep 8811')).toBe('1')
    await vi.waitFor(async () => expect(await terminals()).toBe(0), 10_000)
    await text('kill $(pgrep -fx "sleep 8811")')
  })

  test('a program that ends by itself is the end of the stream; its exit code is not its business', async () => {
    const stream = await environment.openStream(['sh', '-c', 'printf a; exit 9'])
    expect((await read(stream)).toString()).toBe('a')
    expect(stream.errored).toBeNull()
  })

  test('a connection that breaks, or is closed for being slow, breaks the stream', async () => {
    world.fault({ match: '/connect', resetAfterMs: 1_500 })
    const broken = await environment.openStream(['cat'])
    const error = await new Promise<Error>(resolve => broken.once('error', resolve))
    expect(error.message).toMatch(/1006|ECONNRESET/)

    const slow = await environment.openStream(['sh', '-c', 'head -c 64000000 /dev/zero; sleep 60'])
    // Nobody reads.
    const closed = await new Promise<Error>(resolve => {
      slow.once('error', resolve)
      setTimeout(() => slow.resume(), 4_000)
    })
    expect(closed.message).toContain('slow consumer')
  })

  test('a terminal that is refused is a typed error, and is not left', async () => {
    world.fault({ match: 'POST .*/process/pty$', status: 503 })
    expect(await failure(environment.openStream(['cat']))).toMatchObject({ code: 'unavailable' })
    world.fault({ match: '/connect', status: 401 })
    expect(await failure(environment.openStream(['cat']))).toMatchObject({ code: 'unauthenticated' })
    world.fault({ match: '/connect', muteAfterMs: 0 })
    const signal = AbortSignal.timeout(1_000)
    expect(await failure(environment.openStream(['cat'], { signal }))).toMatchObject({ code: 'cancelled' })
    world.faults.clear()
    expect(await terminals()).toBe(0)
  })
})
