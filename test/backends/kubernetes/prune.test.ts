import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backends/backend.ts'
import { createKubernetesBackend } from '../../../src/backends/kubernetes/kubernetes.ts'
import { resourceName } from '../../../src/backends/kubernetes/names.ts'
import { claimManifest, podManifest } from '../../../src/backends/kubernetes/pod-spec.ts'
import { newRecord, STARTED, USED_AT } from '../../../src/backends/kubernetes/record.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { later } from '../../support/clock.ts'
import { type ClusterSpace, createClusterSpace } from '../../support/cluster.ts'
import { leftovers } from '../../support/leftovers.ts'
import { IMAGE, MISSING, OWNER, onCluster } from './support.ts'

const TWO_HOURS_MS = 7_200_000

describe.skipIf(MISSING !== '')(onCluster('kubernetes: what hosts left that never came back'), () => {
  let base: string
  let space: ClusterSpace

  beforeAll(() => {
    base = mkdtempSync(join(tmpdir(), 'at-k8s-prune-'))
    space = createClusterSpace(join(base, 'kubeconfig'))
  })
  afterEach(async () => {
    space.kubectl(['delete', 'pods,pvc', '--all', '--force', '--grace-period=0', '--wait=false'])
    await expect.poll(() => space.left(), { timeout: 30_000 }).toEqual([])
  })
  afterAll(() => {
    space?.remove()
    rmSync(base, { recursive: true, force: true })
  })

  const backend = (options: object = {}): Backend =>
    createKubernetesBackend({ dataDir: base, kubeconfig: space.kubeconfig, image: IMAGE, logger: silentLogger, ...options })
  const record = (id: string) => newRecord({ id, name: id, owner: OWNER })
  const create = (manifest: object) => space.kubectl(['create', '-f', '-'], JSON.stringify(manifest))
  /** A claim as a host makes it; `started` once a gateway ran on it, `hand-made` as an operator's own is. */
  const claim = (id: string, kind: 'half made' | 'started' | 'hand-made') => {
    const name = resourceName(id)
    const manifest = claimManifest({ name, record: record(id), profile: { storageClass: 'nowhere' }, user: 'host' })
    const annotations = { ...manifest.metadata?.annotations } as Record<string, string>
    if (kind === 'started') annotations[STARTED] = 'yes'
    if (kind === 'hand-made') delete annotations[STARTED]
    create({ ...manifest, metadata: { ...manifest.metadata, annotations } })
    return name
  }
  const pod = (id: string, change: object = {}) => {
    const name = resourceName(id)
    const made = podManifest({ name, record: record(id), user: 'host', argv: [], image: IMAGE, profile: {} })
    create({ ...made, spec: { ...made.spec, ...change } })
    return name
  }

  test('a claim on which nothing ever ran goes once it is old; one with files, or of an operator, stays', async () => {
    const half = claim('ws-half', 'half made')
    const kept = [claim('ws-files', 'started'), claim('ws-hand', 'hand-made')]
    expect(await leftovers(backend(), { dryRun: false })).toEqual([])
    const reason = 'its making was broken off, and nothing ever ran on it'
    const expected = [{ kind: 'volume claim', name: half, action: 'remove', reason }]
    expect(await later(TWO_HOURS_MS, () => leftovers(backend(), { dryRun: true }))).toEqual(expected)
    expect(space.left()).toHaveLength(3)
    expect(await later(TWO_HOURS_MS, () => leftovers(backend(), { dryRun: false }))).toEqual(expected)
    expect(space.left().sort()).toEqual(kept.map(name => `PersistentVolumeClaim ${name}`).sort())
  })

  test('a Pod that never came to run goes with its claim, unless the operator allows it more time', async () => {
    claim('ws-pending', 'half made')
    const name = pod('ws-pending')
    claim('ws-suspended', 'started')
    pod('ws-suspended')
    const patient = backend({ startTimeoutMs: TWO_HOURS_MS })
    expect(await later(TWO_HOURS_MS, () => leftovers(patient, { dryRun: false }))).toEqual([])
    const found = await later(TWO_HOURS_MS, () => leftovers(backend(), { dryRun: true }))
    expect(found.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      ...[`Pod ${name}`, `Pod ${resourceName('ws-suspended')}`, `volume claim ${name}`].sort(),
    ])
    expect(await later(TWO_HOURS_MS, () => leftovers(backend(), { dryRun: false }))).toEqual(found)
    await expect.poll(() => space.left(), { timeout: 30_000 }).toEqual([`PersistentVolumeClaim ${resourceName('ws-suspended')}`])
  })

  test('what a host has just come to use is not touched, however old it is', async () => {
    const name = claim('ws-again', 'half made')
    const now = new Date(Date.now() + TWO_HOURS_MS).toISOString()
    space.kubectl(['annotate', 'pvc', name, `${USED_AT}=${now}`, '--overwrite'])
    expect(await later(TWO_HOURS_MS, () => leftovers(backend(), { dryRun: false }))).toEqual([])
    expect(space.left()).toEqual([`PersistentVolumeClaim ${name}`])
  })

  test('a workspace is removed without a Pod being started for it; what is somebody else’s stays', async () => {
    claim('ws-gone', 'started')
    pod('ws-gone')
    await backend().remove?.({ id: 'ws-gone', owner: { ...OWNER, user: 'else' } })
    expect(space.left()).toHaveLength(2)
    await backend().remove?.({ id: 'ws-gone', owner: OWNER })
    expect(space.left()).toEqual([])
  })
})
