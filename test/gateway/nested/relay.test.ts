import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Relay } from '../../../src/gateway/nested/relay.ts'

describe('a server that a host has just got', () => {
  let relay: Relay
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
    relay = new Relay({ server: 's', name: 'fake', link: () => undefined, transport: () => undefined })
    relay.join('one')
  })
  afterEach(() => {
    relay.dispose()
    vi.useRealTimers()
  })

  it('is claimed until that host leaves', () => {
    expect(relay.isClaimed()).toBe(true)
    relay.leave('one')
    expect(relay.isClaimed()).toBe(false)
    // Its start was answered when it had left.
    relay.claim('one')
    expect(relay.isClaimed()).toBe(false)
  })

  it('is claimed until that host sends something', () => {
    relay.send('two', { jsonrpc: '2.0', method: 'notifications/any' })
    expect(relay.isClaimed()).toBe(true)
    relay.send('one', { jsonrpc: '2.0', method: 'notifications/any' })
    expect(relay.isClaimed()).toBe(false)
  })

  it('is claimed for ten seconds after its start at most', () => {
    vi.advanceTimersByTime(5_000)
    relay.claim('one')
    vi.advanceTimersByTime(9_999)
    expect(relay.isClaimed()).toBe(true)
    vi.advanceTimersByTime(1)
    expect(relay.isClaimed()).toBe(false)
  })

  it('is not in the way of the host that claims it', () => {
    expect(relay.isClaimed('one')).toBe(false)
    expect(relay.isClaimed('two')).toBe(true)
  })
})
