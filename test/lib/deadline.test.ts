import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import {
  after,
  childController,
  formatMs,
  onAbort,
  sleep,
  throwIfAborted,
  withDeadline,
  withLimit,
  withSignal,
} from '../../src/lib/deadline.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'

const never = new Promise<never>(() => {})
const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

describe('withDeadline', () => {
  it('gives the value or the error of a promise that settles in time', async () => {
    expect(await withDeadline(Promise.resolve(7), 1_000, 'It')).toBe(7)
    await expect(withDeadline(Promise.reject(new Error('boom')), 1_000, 'It')).rejects.toThrow('boom')
  })

  it('says what took too long', async () => {
    await expect(withDeadline(never, 5, 'Opening the gate')).rejects.toMatchObject({
      code: 'timeout',
      message: 'Opening the gate took longer than 5 ms.',
    })
  })

  it('never fires at once for a huge or infinite limit', async () => {
    const outcome = Promise.race([
      withDeadline(sleep(20), Number.POSITIVE_INFINITY, 'It'),
      withDeadline(sleep(20), 2 ** 40, 'It'),
    ])
    await expect(outcome).resolves.toBeUndefined()
  })
})

describe('signals', () => {
  it('rejects with the reason and leaves no listener', async () => {
    const controller = new AbortController()
    for (let i = 0; i < 50; i++) await withSignal(Promise.resolve(i), controller.signal)
    expect(listeners(controller.signal)).toBe(0)
    const waiting = withSignal(never, controller.signal)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    expect(listeners(controller.signal)).toBe(0)
  })

  it('keeps an error that was given as the reason', async () => {
    const reason = new Error('session closed')
    await expect(withSignal(never, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(() => throwIfAborted(AbortSignal.abort(reason))).toThrow(reason)
    expect(() => throwIfAborted(undefined)).not.toThrow()
  })

  it('takes a listener off on demand', () => {
    const controller = new AbortController()
    let calls = 0
    onAbort(controller.signal, () => calls++)()
    onAbort(controller.signal, () => calls++)
    controller.abort()
    expect(calls).toBe(1)
  })

  it('ends a sleep', async () => {
    const controller = new AbortController()
    const sleeping = sleep(60_000, { signal: controller.signal })
    controller.abort('enough')
    await expect(sleeping).rejects.toMatchObject({ message: 'enough' })
  })

  it('hands an abort down to a child, never up, and lets go', () => {
    const parent = new AbortController()
    const one = childController(parent.signal)
    const two = childController(parent.signal)
    two.dispose()
    two.controller.abort()
    expect(parent.signal.aborted).toBe(false)
    parent.abort()
    expect(one.controller.signal.aborted).toBe(true)
    expect(listeners(parent.signal)).toBe(0)
  })
})

it('stops a timer', async () => {
  let fired = false
  after(1, () => {
    fired = true
  })()
  await sleep(15)
  expect(fired).toBe(false)
})

it.each([
  [250, '250 ms'],
  [1_500, '1.5 s'],
  [120_000, '2 min'],
  [5_400_000, '1.5 h'],
])('writes %d ms as %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text)
})

it('a run with a limit is given up with the reason that is given, by its own signal too', async () => {
  const late = new WorkspaceError('timeout', 'It took too long.')
  let ended: unknown
  const run = (signal: AbortSignal) =>
    new Promise<never>(() => {
      signal.addEventListener('abort', () => (ended = signal.reason))
    })
  await expect(withLimit(run, { ms: 10, late: () => late })).rejects.toBe(late)
  expect(ended).toBe(late)
  const controller = new AbortController()
  const running = withLimit(run, { ms: 60_000, late: () => late, signal: controller.signal })
  controller.abort(new Error('not wanted'))
  await expect(running).rejects.toThrow('not wanted')
  expect(await withLimit(async () => 'done', { ms: 60_000, late: () => late })).toBe('done')
})
