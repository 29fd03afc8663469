import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InputChoice } from '../../../src/backends/e2b/input-choice.ts'
import { openStream } from '../../../src/backends/e2b/open-stream.ts'
import { connectSdk, type Sandbox, type Sdk } from '../../../src/backends/e2b/sdk.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { createWorld, MISSING, onStandIn, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onStandIn('e2b: a stream to a process'), () => {
  let world: World
  let sdk: Sdk
  let sandbox: Sandbox

  beforeAll(async () => {
    world = await createWorld()
    sdk = await connectSdk(world.account)
    sandbox = await sdk.sandboxes.create('base', { timeoutMs: 600_000 })
  })
  afterAll(() => world?.remove())

  const open = (streams: 'untried' | 'no', argv: readonly string[], signal?: AbortSignal) => {
    const input = new InputChoice()
    if (streams === 'no') input.failed('refused')
    const context = { ...sdk, settings: world.account, logger: silentLogger, input }
    return openStream({ ...context, reported: new Set(), settleMs: 0 }, sandbox, argv, { signal })
  }

  test.each(['untried', 'no'] as const)('carries all byte values in order, both ways (stream of input: %s)', async streams => {
    const stream = await open(streams, ['head', '-c', '700000'])
    const sent = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, value) => value)), randomBytes(699_744)])
    for (let at = 0; at < sent.length; at += 10_000) stream.write(sent.subarray(at, at + 10_000))
    expect((await buffer(stream)).equals(sent)).toBe(true)
  })

  test.each(['untried', 'no'] as const)(
    'ends with the process, and its end is the end of input (stream of input: %s)',
    async streams => {
      const counted = await open(streams, ['wc', '-c'])
      counted.write(Buffer.alloc(300_000))
      counted.end('x')
      expect((await buffer(counted)).toString().trim()).toBe('300001')
      expect((await buffer(await open(streams, ['sh', '-c', 'echo bye; exit 3']))).toString()).toBe('bye\n')
    },
  )

  test('what a login shell says comes not through; arguments arrive as they are', async () => {
    await sandbox.files.write('/root/.bash_profile', 'echo Welcome; echo to all')
    await sandbox.files.write('/home/user/.bash_profile', 'echo Welcome; echo to all')
    const stream = await open('untried', ['printf', '%s|', "it's", '$HOME', '', 'a b'])
    expect((await buffer(stream)).toString()).toBe("it's|$HOME||a b|")
  })

  test('destroyed, its process ends', async () => {
    const stream = await open('untried', ['sleep', '4321'])
    stream.destroy()
    const running = async () => (await sandbox.commands.run('ps -e -o args=')).stdout.includes('sleep 4321')
    for (let left = 50; left > 0 && (await running()); left -= 1) await new Promise(resolve => setTimeout(resolve, 100))
    expect(await running()).toBe(false)
  })

  test('the SDK keeps nothing of what a stream carried', async () => {
    const { stdoutDecoder, _stdout } = (await sandbox.commands.run('cat', {
      background: true,
      stdin: true,
    })) as unknown as Record<string, unknown>
    // What the backend relies on in this version of the SDK.
    expect(stdoutDecoder).toHaveProperty('decode')
    expect(_stdout).toBe('')
  })

  test('an abort ends the start', async () => {
    world.fault({ match: 'POST /process.Process/Start', latencyMs: 5_000 })
    await expect(open('untried', ['cat'], AbortSignal.timeout(200))).rejects.toThrow()
  })
})
