import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, createBench, run, until } from './support.ts'

describe('connectGateway', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await createBench()
  })
  afterEach(() => bench.dispose())

  it('starts a daemon, and calls made before the link is open wait for it', async () => {
    await using client = bench.connect()
    expect(client.state).toBe('connecting')
    const result = await client.call('command.run', run('echo:hällo 😀'))
    expect(result.output.head).toBe('hällo 😀')
    expect(result.cwd).toBe('/home/o')
    expect(client.state).toBe('open')
    const opened = await client.opened()
    expect(opened.workdir).toBe(bench.environment.info.workdir)
    expect(opened.pid).not.toBe(process.pid)
  }, 30_000)

  it('makes the gateway’s errors into workspace errors again', async () => {
    await using client = bench.connect()
    await expect(client.call('command.run', run('fail'))).rejects.toMatchObject({
      code: 'not_found',
      message: 'nothing there',
      hint: 'look elsewhere',
    })
    await expect(client.call('job.list', {})).rejects.toMatchObject({ code: 'unsupported' })
  }, 30_000)

  it('carries answers that are larger than a line', async () => {
    await using client = bench.connect()
    const { data } = await client.call('file.bytes', { path: 'x', offset: 0, length: 400_000 })
    expect(data).toBe('é'.repeat(400_000))
  }, 30_000)

  it('carries streams both ways, whole and in order', async () => {
    await using client = bench.connect()
    let down = 0
    await client.call('command.run', run('stream:3000001'), {
      onChunk: async chunk => {
        down += chunk.length
        await new Promise(resolve => setImmediate(resolve))
      },
    })
    expect(down).toBe(3_000_001)
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (let part = 0; part < 20; part++) yield new Uint8Array(100_000)
    }
    const up = await client.call('file.put', { path: 'y' }, { input: parts() })
    expect(up.size).toBe(2_000_000)
  }, 30_000)

  it('stops only the stream whose consumer is slow', async () => {
    await using client = bench.connect()
    let release: () => void = () => {}
    const held = new Promise<void>(resolve => (release = resolve))
    let got = 0
    const slow = client.call('command.run', run('stream:2000000'), {
      onChunk: async chunk => {
        got += chunk.length
        await held
      },
    })
    await until(() => got > 0)
    let other = 0
    await client.call('command.run', run('stream:2000000'), {
      onChunk: chunk => {
        other += chunk.length
      },
    })
    expect(other).toBe(2_000_000)
    expect(got).toBeLessThan(200_000)
    release()
    await slow
    expect(got).toBe(2_000_000)
  }, 30_000)

  it('cancels a call in the gateway and gives what it answers', async () => {
    await using client = bench.connect()
    const abort = new AbortController()
    const call = client.call('command.run', run('hold'), { signal: abort.signal })
    await client.call('ping', {})
    abort.abort()
    expect((await call).status).toBe('cancelled')
    await expect(client.call('ping', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
  }, 30_000)

  it('fails a call whose chunk listener throws, and the link goes on', async () => {
    await using client = bench.connect()
    const call = client.call('command.run', run('stream:1000000'), {
      onChunk: () => {
        throw new Error('no more')
      },
    })
    await expect(call).rejects.toThrow('no more')
    expect((await client.call('ping', {})).now).toBeGreaterThan(0)
  }, 30_000)

  it('says goodbye: a daemon without other links ends, and later calls are refused', async () => {
    const client = bench.connect()
    await client.opened()
    await client.close('end')
    expect(client.state).toBe('closed')
    await expect(client.call('ping', {})).rejects.toMatchObject({ code: 'cancelled' })
    await until(() => bench.log().includes('the last host left'))
  }, 30_000)
})
