import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Handlers } from '../../src/gateway/dispatch.ts'
import { Life } from '../../src/gateway/life.ts'
import { LinkServer } from '../../src/gateway/link-server.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { type Logger, silentLogger } from '../../src/lib/log.ts'
import { LinkClient } from '../../src/link/client.ts'
import { type ChaosOptions, chaosPipe } from '../gateway/support/chaos-pipe.ts'
import { run } from './support.ts'

const chaos = fc.record({
  cuts: fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 6 }),
  maxRead: fc.constantFrom(1 << 16, 4096, 997, 61),
  echo: fc.boolean(),
  clean: fc.boolean(),
  noise: fc.boolean(),
  window: fc.constantFrom(64 * 1024, 256 * 1024),
  sizes: fc.array(fc.integer({ min: 0, max: 70_000 }), { minLength: 1, maxLength: 3 }),
})

/** A run takes a fraction of a second; one that takes this long hangs. */
const RUN_LIMIT_MS = 6_000

function pattern(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8)) & 255
  return bytes
}
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A gateway in this process whose handlers count what reaches them. */
function createGateway(seen: Map<string, number>, problems: string[]) {
  const count = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1)
  const handlers = {
    open: async () => ({
      instance: 'i',
      version: 'v',
      pid: 1,
      platform: 'p',
      workdir: '/',
      root: '/',
      shell: null,
      ripgrep: null,
      jobs: [],
    }),
    ping: async () => ({ now: 1 }),
    'command.run': async ({ command }, context) => {
      count(command)
      const bytes = pattern(Number(command.split(':')[1]))
      for (let at = 0; at < bytes.length; at += 40_000) await context.send(bytes.subarray(at, at + 40_000))
      const output = { head: digest(bytes), tail: '', omittedBytes: 0, totalBytes: bytes.length, totalLines: 0 }
      return { status: 'exited', durationMs: 0, output, cwd: '/', notices: [] }
    },
    'file.put': async ({ path }, { input }) => {
      count(path)
      const parts: Uint8Array[] = []
      for await (const part of input) parts.push(part)
      const bytes = Buffer.concat(parts)
      return { path, size: bytes.length, sha256: digest(bytes) }
    },
    'file.write': async ({ path, content }) => {
      count(path)
      return { path, created: true, bytes: content.length, lines: 0, encoding: digest(Buffer.from(content)), notices: [] }
    },
  } as Partial<Handlers> as Handlers
  const work = { linkLost() {}, inherit() {}, end: async () => {}, busy: () => false }
  const life = new Life({ work, idleMs: 1e9, sound: () => true, end() {} })
  const log: Logger = { ...silentLogger, info: (fields, message) => void problems.push(`${message} ${JSON.stringify(fields)}`) }
  const server = new LinkServer({ instance: 'i', version: 'v', handlers, life, log, replaceable: false })
  return { server, life }
}

async function exercise(client: LinkClient, sizes: number[]): Promise<void> {
  const calls = sizes.flatMap((size, index) => [
    (async () => {
      const got: Uint8Array[] = []
      const result = await client.call('command.run', run(`down${index}:${size}`), { onChunk: chunk => void got.push(chunk) })
      expect(digest(Buffer.concat(got))).toBe(result.output.head)
    })(),
    (async () => {
      const bytes = pattern(size)
      const input = (async function* () {
        for (let at = 0; at < size; at += 30_000) yield bytes.subarray(at, at + 30_000)
      })()
      const result = await client.call('file.put', { path: `up${index}` }, { input })
      expect(result.sha256).toBe(digest(bytes))
    })(),
    (async () => {
      const content = '😀é"\\\n'.repeat(size / 10)
      const result = await client.call('file.write', { session: 's', path: `write${index}`, content })
      expect(result.encoding).toBe(digest(Buffer.from(content)))
    })(),
  ])
  await Promise.all(calls)
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The calls are not answered within ${ms} ms`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

describe('the link over a bad stream', () => {
  it('loses nothing and repeats nothing, whatever is cut, split, echoed or mixed in', async () => {
    await fc.assert(
      fc.asyncProperty(chaos, async ({ cuts, clean, sizes, window, ...options }) => {
        const seen = new Map<string, number>()
        const problems: string[] = []
        const { server, life } = createGateway(seen, problems)
        let attach = 0
        const client = new LinkClient({
          dial: async () => {
            // What was received once is never asked for again, so that each cut costs one more attach and nothing else does.
            if (attach > cuts.length + 1) throw new WorkspaceError('unsupported', 'The link is not restored by new streams')
            const cutAfter = cuts[attach++] ?? Number.POSITIVE_INFINITY
            const rough = !clean && { echo: options.echo, noise: options.noise }
            const pipeOptions: ChaosOptions = {
              echo: false,
              noise: false,
              ...rough,
              cutAfter,
              maxRead: options.maxRead,
              text: !clean,
            }
            const [near, far] = chaosPipe(pipeOptions)
            server.accept(far)
            return { stream: near, clean }
          },
          open: { owner: 'o', env: {}, graceMs: 1e9 },
          ...{ reconnectMs: 60_000, logger: silentLogger, windowBytes: window },
        })
        try {
          await within(RUN_LIMIT_MS, exercise(client, sizes))
          expect([...seen.values()].every(times => times === 1)).toBe(true)
          expect(seen.size).toBe(sizes.length * 3)
          expect(problems.filter(problem => problem.includes('protocol') || problem.includes('carried'))).toEqual([])
        } finally {
          await client.close('end')
          life.finish('done')
        }
      }),
      { numRuns: 15, endOnFailure: true },
    )
  }, 60_000)
})
