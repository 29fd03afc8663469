import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClusterSpace } from '../../support/cluster.ts'
import { createWorld, failure, MISSING, onCluster, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onCluster('kubernetes: what does not start'), () => {
  let world: World

  beforeAll(() => {
    world = createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  test.each([
    [
      'an image that is nowhere',
      { image: 'localhost:1/no-such-image:1', startTimeoutMs: 30_000 },
      'not_found',
      /no-such-image:1[\s\S]*(ErrImagePull|ImagePullBackOff)/,
      /image/,
    ],
    [
      'an image that may not be pulled',
      { image: 'atelier-none:1', imagePullPolicy: 'Never' as const },
      'not_found',
      /ErrImageNeverPull/,
      /imagePullPolicy/,
    ],
    ['a name that no image can have', { image: 'No Such:Image' }, 'not_found', /InvalidImageName/, /image/],
    [
      'a node that there is not',
      { nodeSelector: { nowhere: 'x' }, startTimeoutMs: 3_000 },
      'unavailable',
      /Unschedulable: 0\/1 nodes are available.*selector/,
      /nodeSelector/,
    ],
    [
      'more than any node has',
      { resources: { requests: { cpu: '900' } }, startTimeoutMs: 3_000 },
      'unavailable',
      /Insufficient cpu/,
      /resources/,
    ],
    [
      'a class of volumes that there is not',
      { storageClass: 'no-such-class', startTimeoutMs: 60_000 },
      'unavailable',
      /no-such-class.* not found/,
      /storageClass/,
    ],
    [
      'a secret that there is not',
      { podPatch: { spec: { containers: [{ name: 'workspace', envFrom: [{ secretRef: { name: 'no-such-secret' } }] }] } } },
      'precondition_failed',
      /CreateContainerConfigError.*no-such-secret/,
      /secret/,
    ],
    [
      'a user that the security context forbids',
      { podSecurityContext: { runAsUser: 0 } },
      'precondition_failed',
      /non-root/,
      /runAsUser/,
    ],
    ['a runtime class that there is not', { runtimeClass: 'no-such-runtime' }, 'permission_denied', /no-such-runtime/, /./],
    ['a service account that there is not', { serviceAccount: 'no-such-account' }, 'permission_denied', /no-such-account/, /./],
    [
      'a field that no Pod has',
      { podPatch: { spec: { restartPolicy: 'Sometimes' } } },
      'invalid_argument',
      /Sometimes/,
      /settings/,
    ],
  ] as const)('%s: typed, quoted, with the remedy, and nothing is left', async (_, settings, code, message, hint) => {
    const error = await failure(world.open('ws-fails', settings))
    expect([error.name, error.code, error.message]).toEqual(['WorkspaceError', code, expect.stringMatching(message)])
    expect(error.hint).toMatch(hint)
    expect(world.left()).toEqual([])
  })

  test('a workspace that has files keeps them when it does not start', async () => {
    const workspace = await world.open('ws-kept')
    await sh(workspace, 'echo kept > file')
    await workspace.close()
    const error = await failure(world.open('ws-kept', { nodeSelector: { nowhere: 'x' }, startTimeoutMs: 2_000 }))
    expect(error.code).toBe('unavailable')
    expect(world.left()).toHaveLength(1)
    expect(await sh(await world.open('ws-kept'), 'cat file')).toBe('kept')
  })

  test('a quota, a range of limits and the security profile of the namespace are told apart', async () => {
    const set = (spec: object, kind: string) =>
      world.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind, metadata: { name: 'it' }, spec }))
    set({ hard: { pods: '0' } }, 'ResourceQuota')
    const quota = await failure(world.open('ws-quota'))
    expect([quota.code, quota.message]).toEqual(['limit_exceeded', expect.stringMatching(/exceeded quota: it.*pods=0/)])
    expect(quota.hint).toContain('ResourceQuota')
    set({ hard: { 'requests.storage': '1Mi' } }, 'ResourceQuota')
    const storage = await failure(world.open('ws-quota'))
    expect([storage.code, storage.message]).toEqual(['limit_exceeded', expect.stringMatching(/requests.storage/)])
    world.kubectl(['delete', 'resourcequota', 'it'])
    set({ limits: [{ type: 'Container', max: { memory: '16Mi' }, default: { memory: '16Mi' } }] }, 'LimitRange')
    const range = await failure(world.open('ws-quota', { resources: { limits: { memory: '1Gi' } } }))
    expect([range.code, range.message]).toEqual([
      'limit_exceeded',
      expect.stringContaining('maximum memory usage per Container is 16Mi'),
    ])
    world.kubectl(['delete', 'limitrange', 'it'])
    world.kubectl(['label', 'namespace', world.space.namespace, 'pod-security.kubernetes.io/enforce=restricted'])
    const profile = await failure(world.open('ws-quota', { securityContext: { allowPrivilegeEscalation: true } }))
    expect([profile.code, profile.message]).toEqual(['permission_denied', expect.stringContaining('allowPrivilegeEscalation')])
    expect(profile.hint).toContain('securityContext')
    world.kubectl(['label', 'namespace', world.space.namespace, 'pod-security.kubernetes.io/enforce-'])
    expect(world.left()).toEqual([])
  })

  test('a namespace, a context, a file, a cluster that there is not, and credentials that are none', async () => {
    const of = async (options: object) => {
      const { code, message, hint } = await failure(world.open('ws-nowhere', options))
      return `${code}: ${message} ${hint}`
    }
    expect(await of({ kubeconfig: join(world.base, 'none') })).toMatch(/^not_found: .*none does not exist.*KUBECONFIG/)
    expect(await of({ context: 'other' })).toMatch(/^invalid_argument: .*"other".*It has: test/)
    const kubeconfig = (change: (config: { clusters: { cluster: object }[]; users: { user: object }[] }) => void) => {
      const path = join(world.base, 'changed')
      const config = JSON.parse(world.config())
      change(config)
      writeFileSync(path, JSON.stringify(config))
      return path
    }
    const nowhere = kubeconfig(({ clusters }) => Object.assign(clusters[0]?.cluster ?? {}, { server: 'https://127.0.0.1:1' }))
    expect(await of({ kubeconfig: nowhere })).toMatch(/^unavailable: .*127.0.0.1:1.*does not answer.*readyz/)
    const stranger = kubeconfig(({ users }) => Object.assign(users[0] ?? {}, { user: { token: 'wrong' } }))
    expect(await of({ kubeconfig: stranger })).toMatch(/^unauthenticated: .*Unauthorized.*credentials/)
    const unknown = kubeconfig(({ clusters }) =>
      Object.assign(clusters[0]?.cluster ?? {}, { 'certificate-authority-data': undefined }),
    )
    expect(await of({ kubeconfig: unknown })).toMatch(/^unavailable: .*certificate.*certificate authority/)
    expect(await of({ kubeconfig: process.env.KUBECONFIG, namespace: 'at-no-such-namespace' })).toMatch(
      /^not_found: .*"at-no-such-namespace" not found.*create namespace/,
    )
  }, 240_000)

  test('rights that are missing are named, with the file that holds them', async () => {
    const bare = createClusterSpace(join(world.base, 'bare'), { bare: true })
    try {
      const error = await failure(world.open('ws-rights', { kubeconfig: bare.kubeconfig }))
      expect([error.code, error.message]).toEqual([
        'permission_denied',
        expect.stringMatching(/cannot (patch|create) resource "persistentvolumeclaims"/),
      ])
      expect(error.hint).toContain('deploy/rbac.yaml')
      expect((await failure(world.backend({ kubeconfig: bare.kubeconfig }).find('ws-rights'))).code).toBe('permission_denied')
      expect(await world.backend({ kubeconfig: bare.kubeconfig }).probe()).toMatchObject([
        { name: 'configured', ok: true },
        { name: 'reachable', ok: true },
        { name: 'authorised', ok: false },
      ])
    } finally {
      bare.remove()
    }
    const steps = await world.backend().probe()
    expect(steps.map(({ name, ok }) => [name, ok])).toEqual([
      ['configured', true],
      ['reachable', true],
      ['authorised', true],
      ['rights', true],
      ['image', true],
    ])
  })

  test('who waits hears what keeps a Pod from running', async () => {
    const controller = new AbortController()
    const heard: string[] = []
    const onProgress = (sentence: string) => {
      heard.push(sentence)
      controller.abort()
    }
    const backend = world.backend({ nodeSelector: { nowhere: 'x' } })
    const error = await failure(backend.provision(world.spec('ws-told'), { signal: controller.signal, onProgress }))
    expect(error.code).toBe('cancelled')
    expect(heard).toEqual([expect.stringMatching(/^Pod \S+ does not run yet: Unschedulable: .*node/)])
    await expect.poll(() => world.left(), { timeout: 20_000 }).toEqual([])
  })

  test('a cancelled call makes nothing, at whatever point it is cancelled', async () => {
    const before = await failure(world.backend().provision(world.spec('ws-cancel'), { signal: AbortSignal.abort() }))
    expect(before.code).toBe('cancelled')
    for (const ms of [20, 150, 600, 1_500]) {
      const options = { nodeSelector: { nowhere: 'x' } }
      const controller = new AbortController()
      setTimeout(() => controller.abort(), ms)
      const error = await failure(world.backend(options).provision(world.spec('ws-cancel'), { signal: controller.signal }))
      expect(error.code).toBe('cancelled')
    }
    await expect.poll(() => world.left(), { timeout: 20_000 }).toEqual([])
  })
})
