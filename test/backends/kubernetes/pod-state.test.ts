import type { V1ContainerState, V1Pod, V1PodStatus } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { isNodeLost, lifeOf, whyEnded } from '../../../src/backends/kubernetes/pod-state.ts'

const pod = (status: Partial<V1PodStatus>, state?: V1ContainerState, more: object = {}): V1Pod => ({
  metadata: {},
  spec: { containers: [{ name: 'workspace', resources: { limits: { memory: '1Gi' } } }] },
  status: {
    ...status,
    ...(state === undefined
      ? {}
      : { containerStatuses: [{ name: 'workspace', ready: state.running !== undefined, state } as never] }),
  },
  ...more,
})
const RUNNING = { running: { startedAt: new Date() } }
const ended = (exitCode: number, more = {}): V1ContainerState => ({ terminated: { exitCode, ...more } })

test('the life of a Pod is that of its workspace, sidecars left aside', () => {
  expect(lifeOf(pod({ phase: 'Pending' }))).toBe('pending')
  expect(lifeOf(pod({ phase: 'Running' }, { waiting: { reason: 'ContainerCreating' } }))).toBe('pending')
  expect(lifeOf(pod({ phase: 'Running' }, RUNNING))).toBe('running')
  expect(lifeOf(pod({ phase: 'Running' }, ended(0)))).toBe('ended')
  expect(lifeOf(pod({ phase: 'Failed', reason: 'Evicted' }))).toBe('ended')
  expect(lifeOf(pod({ phase: 'Running' }, RUNNING, { metadata: { deletionTimestamp: new Date() } }))).toBe('terminating')
})

test.each([
  [pod({ phase: 'Failed', reason: 'Evicted', message: 'low on memory.' }), 'it was evicted: low on memory'],
  [pod({ phase: 'Failed' }, ended(137, { reason: 'OOMKilled' })), 'it ran out of memory and was OOM-killed (limit 1Gi)'],
  // A command was killed for memory some time, the Pod ended in peace.
  [pod({ phase: 'Succeeded' }, ended(0, { reason: 'OOMKilled' })), 'it was stopped'],
  [pod({ phase: 'Failed' }, ended(137)), 'it was killed'],
  [pod({ phase: 'Failed' }, ended(143)), 'it was stopped'],
  [pod({ phase: 'Failed' }, ended(71, { message: 'no host' })), 'it ended with exit code 71: no host'],
  [
    pod({ conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message: 'higher' }] }),
    'it was preempted by a Pod of a higher priority: higher',
  ],
  [pod({ phase: 'Failed', reason: 'NodeShutdown', message: 'bye' }), 'NodeShutdown: bye'],
  [pod({}, RUNNING, { metadata: { deletionTimestamp: new Date() } }), 'it was deleted'],
  [pod({}, RUNNING), undefined],
])('%#: why it ended', (it, why) => {
  expect(whyEnded(it)).toBe(why)
})

test('a node that fell silent is told by the condition that its controller sets', () => {
  const ready = (status: string, reason?: string) => ({
    conditions: [{ type: 'Ready', status, ...(reason === undefined ? {} : { reason }) }],
  })
  expect(isNodeLost(pod(ready('True'), RUNNING))).toBe(false)
  expect(isNodeLost(pod(ready('False'), RUNNING))).toBe(true)
  expect(isNodeLost(pod(ready('False'), ended(0)))).toBe(false)
  // A sidecar that is still starting, a gate that is still closed.
  expect(isNodeLost(pod(ready('False', 'ContainersNotReady'), RUNNING))).toBe(false)
  expect(isNodeLost(pod(ready('False', 'ReadinessGatesNotReady'), RUNNING))).toBe(false)
})
