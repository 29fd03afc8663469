import type { CoreV1Event } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { lastWarning } from '../../../src/backends/kubernetes/events.ts'

const event = (type: string, reason: string, message = 'so it is.') => ({ type, reason, message }) as CoreV1Event

test('the last warning is the reason, but for those that any Pod of the cluster has', () => {
  const events = [event('Warning', 'Failed'), event('Warning', 'BackOff'), event('Normal', 'Pulled')]
  expect(lastWarning(events)).toBe('BackOff: so it is')
  expect(lastWarning([...events, event('Warning', 'MissingClusterDNS')])).toBe('BackOff: so it is')
  expect(lastWarning([event('Warning', 'DNSConfigForming'), event('Normal', 'Started')])).toBeUndefined()
})
