import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyedLock, SingleFlight } from '../../src/lib/keyed-lock.ts'

describe('KeyedLock', () => {
  it('runs one task of a key at a time, in order, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(4), fails: fc.boolean() })),
        async jobs => {
          const lock = new KeyedLock()
          const busy = new Set<string>()
          const done: Record<string, number[]> = { a: [], b: [], c: [] }
          await Promise.allSettled(
            jobs.map((job, index) =>
              lock.run(job.key, async () => {
                expect(busy.has(job.key)).toBe(false)
                busy.add(job.key)
                for (let i = 0; i < job.turns; i++) await Promise.resolve()
                busy.delete(job.key)
                done[job.key]?.push(index)
                if (job.fails) throw new Error('no')
              }),
            ),
          )
          for (const order of Object.values(done)) expect(order).toEqual([...order].sort((x, y) => x - y))
          expect(Object.values(done).flat()).toHaveLength(jobs.length)
          await new Promise(setImmediate)
          expect(lock.size).toBe(0)
        },
      ),
    )
  })

  it('lets other keys through', async () => {
    const lock = new KeyedLock()
    const release = await lock.acquire('a')
    expect(await lock.run('b', () => 'through')).toBe('through')
    release()
  })

  it('gives up the turn of a waiter that was cancelled, and keeps the order of the rest', async () => {
    const lock = new KeyedLock()
    const release = await lock.acquire('a')
    const controller = new AbortController()
    const cancelled = lock.run('a', () => 'never', { signal: controller.signal })
    let ran = false
    const next = lock.run('a', () => {
      ran = true
    })
    controller.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' })
    expect(ran).toBe(false)
    release()
    await next
    expect(ran).toBe(true)
  })
})

describe('SingleFlight', () => {
  it('shares one run, then starts anew', async () => {
    const flight = new SingleFlight<number>()
    let runs = 0
    const task = async (): Promise<number> => ++runs
    expect(await Promise.all([flight.run('k', task), flight.run('k', task), flight.run('k', task)])).toEqual([1, 1, 1])
    expect(await flight.run('k', task)).toBe(2)
    expect(flight.size).toBe(0)
  })

  it('shares a failure and does not keep it', async () => {
    const flight = new SingleFlight<number>()
    const failing = (): Promise<number> => Promise.reject(new Error('broken'))
    const both = await Promise.allSettled([flight.run('k', failing), flight.run('k', failing)])
    expect(both.map(one => one.status)).toEqual(['rejected', 'rejected'])
    expect(await flight.run('k', async () => 1)).toBe(1)
  })

  it('goes on for the others when one caller is cancelled', async () => {
    const flight = new SingleFlight<string>()
    let finish = (_: string): void => {}
    const task = (): Promise<string> => new Promise(resolve => (finish = resolve))
    const controller = new AbortController()
    const first = flight.run('k', task, { signal: controller.signal })
    const second = flight.run('k', task)
    controller.abort()
    await expect(first).rejects.toMatchObject({ code: 'cancelled' })
    finish('value')
    expect(await second).toBe('value')
  })
})
