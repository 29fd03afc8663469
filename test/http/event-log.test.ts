import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseEventId } from '../../src/http/event-channel.ts'
import { EventLog } from '../../src/http/event-log.ts'

const bounds = { maxChars: 50, maxAgeMs: 1_000 }

it('gives what follows any event without a gap, or says how many are missing, within its bound', () => {
  const appends = fc.array(fc.record({ size: fc.nat(30), wait: fc.nat(400) }), { maxLength: 60 })
  fc.assert(
    fc.property(appends, fc.nat(60), (events, from) => {
      const log = new EventLog(bounds)
      let now = 0
      for (const { size, wait } of events) {
        now += wait
        log.append('x'.repeat(size), now)
      }
      const { events: kept, missing } = log.after(from)
      const numbers = kept.map(event => event.seq)
      expect(numbers).toEqual(Array.from({ length: kept.length }, (_, index) => log.last - kept.length + 1 + index))
      expect(kept.length + missing).toBe(Math.max(0, log.last - from))
      const all = log.after(0).events
      if (all.length > 1) expect(log.chars).toBeLessThanOrEqual(bounds.maxChars)
      if (events.length > 0) expect(all.at(-1)?.seq).toBe(log.last)
      for (const event of all.slice(0, -1)) expect(now - event.at).toBeLessThanOrEqual(bounds.maxAgeMs)
    }),
  )
})

it('reads only ids that it could have given', () => {
  expect(parseEventId('s-0')).toEqual({ key: 's', seq: 0 })
  expect(parseEventId('p12-345')).toEqual({ key: 'p12', seq: 345 })
  for (const id of ['', 's', 's-', '-1', 's--1', 'S-1', 's-1e3', 's-9999999999999999', 's-1\n'])
    expect(parseEventId(id)).toBeUndefined()
})
