import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallOptions } from '../../src/link/gateway-client.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import { type Answers, openFake } from './fakes.ts'

const run = (answers: Answers) => openFake({ answers: () => answers })
const RESULT = { status: 'exited', exitCode: 0, notices: [] }

describe('shell', () => {
  it('fills in bounds, time-out and soft limit', async () => {
    const { workspace, client } = await run({ 'command.run': RESULT })
    await workspace.shell.run({ session: 's', command: 'true' })
    expect(client.asked('command.run')).toEqual([
      {
        session: 's',
        command: 'true',
        timeoutMs: 120_000,
        timeoutIsDefault: true,
        softLimitMs: 45_000,
        headBytes: 15_000,
        tailBytes: 15_000,
      },
    ])
  })

  it('lowers a time-out over the limit and says so', async () => {
    const { workspace, client } = await run({ 'command.run': RESULT })
    const result = await workspace.shell.run({ session: 's', command: 'true', timeoutMs: 900_000 })
    expect(client.asked('command.run')[0]).toMatchObject({ timeoutMs: 600_000 })
    expect(client.asked('command.run')[0]).not.toHaveProperty('timeoutIsDefault')
    expect(result.notices).toEqual([
      'The timeout of 15 min is over the limit of 10 min, which was used; run_in_background has no limit.',
    ])
  })

  it('gives a background command neither time-out nor soft limit of its own', async () => {
    const { workspace, client } = await run({ 'command.run': RESULT })
    await workspace.shell.run({ session: 's', command: 'true', background: true })
    expect(client.asked('command.run')[0]).not.toHaveProperty('timeoutMs')
    expect(client.asked('command.run')[0]).not.toHaveProperty('softLimitMs')
  })

  it('hands output on as text with whole code points at any chunking', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 5 }), async (text, size) => {
        const stream = async (_: unknown, { onChunk }: CallOptions) => {
          const bytes = Buffer.from(text)
          for (let at = 0; at < bytes.length; at += size) await onChunk?.(bytes.subarray(at, at + size))
          return RESULT
        }
        const { workspace } = await run({ 'command.run': stream })
        const seen: string[] = []
        await workspace.shell.run({ session: 's', command: 'x' }, { onOutput: part => seen.push(part) })
        expect(seen.join('')).toBe(
          Buffer.from(text)
            .toString()
            .replace(/^\uFEFF/, ''),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('asks for a stream only when somebody listens', async () => {
    const { workspace, client } = await run({ 'command.run': RESULT })
    await workspace.shell.run({ session: 's', command: 'a' })
    await workspace.shell.run({ session: 's', command: 'b' }, { onOutput: () => {} })
    expect(client.asked('command.run').map(params => params.stream)).toEqual([undefined, true])
  })

  it('bounds the wait of a read by the soft limit', async () => {
    const { workspace, client } = await run({ 'job.read': { job: { input: 'none' }, notices: [] } })
    await workspace.shell.readJob({ id: 'j', session: 's', waitMs: 500_000 })
    expect(client.asked('job.read')[0]).toMatchObject({ waitMs: DEFAULT_LIMITS.softLimitMs, headBytes: 15_000 })
  })
})
