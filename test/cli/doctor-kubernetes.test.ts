import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProbeStep } from '../../src/backends/backend.ts'
import { diagnose } from '../../src/cli/doctor-command.ts'
import { loadConfig } from '../../src/config.ts'
import { CLUSTER_IMAGE, type ClusterSpace, clusterMissing, createClusterSpace } from '../support/cluster.ts'
import { createWorld, type World } from '../support/world.ts'

const LIMIT_MS = 120_000
const MISSING = clusterMissing()

interface Kubeconfig {
  clusters: { cluster: Record<string, unknown> }[]
  users: { user: object }[]
  contexts: { context: Record<string, unknown> }[]
}

describe.skipIf(MISSING !== '')('doctor: what is wrong with kubernetes', { timeout: LIMIT_MS }, () => {
  let world: World
  let space: ClusterSpace
  let bare: ClusterSpace

  beforeAll(() => {
    world = createWorld()
    space = createClusterSpace(join(world.root, 'kubeconfig'))
    bare = createClusterSpace(join(world.root, 'bare'), { bare: true })
  }, LIMIT_MS)
  afterAll(async () => {
    space?.remove()
    bare?.remove()
    await world?.dispose()
  })

  const examine = async (settings: object, kubeconfig = space.kubeconfig) => {
    const env = { ...world.env, ATELIER_BACKEND: 'kubernetes', KUBECONFIG: kubeconfig, ATELIER_LOG_LEVEL: 'silent' }
    const kubernetes = JSON.stringify({ image: CLUSTER_IMAGE, ...settings })
    const config = loadConfig({ mode: 'http', env: { ...env, ATELIER_KUBERNETES: kubernetes }, cwd: world.project })
    let out = ''
    const code = await diagnose(config, { backend: 'kubernetes', json: true, write: text => (out += text) })
    const [finding] = JSON.parse(out) as { steps: ProbeStep[] }[]
    expect(code).toBe(1)
    expect(finding?.steps.at(-1)?.ok).toBe(false)
    return finding?.steps.filter(({ ok }) => !ok).map(({ name, detail, hint }) => `${name}: ${detail} ${hint}`)
  }
  const one = (text: RegExp) => [expect.stringMatching(text)]
  /** The kubeconfig with a change. */
  const changed = (change: (config: Kubeconfig) => void): string => {
    const config = JSON.parse(readFileSync(space.kubeconfig, 'utf8')) as Kubeconfig
    change(config)
    const path = join(world.root, 'changed')
    writeFileSync(path, JSON.stringify(config))
    return path
  }
  const set = (kind: string, spec: object) =>
    space.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind, metadata: { name: 'it' }, spec }))

  test('no kubeconfig, a context that there is not, a cluster that is away, a stranger, credentials that are none', async () => {
    expect(await examine({}, join(world.root, 'none'))).toEqual(one(/^configured: .*none does not exist.*KUBECONFIG/))
    expect(await examine({ context: 'other' })).toEqual(one(/^configured: .*"other".*It has: test/))
    const server = (address: string) => changed(({ clusters }) => Object.assign(clusters[0]?.cluster ?? {}, { server: address }))
    expect(await examine({}, server('https://127.0.0.1:2'))).toEqual(one(/^reachable: .*does not answer.*readyz/))
    const unknown = changed(({ clusters }) => delete clusters[0]?.cluster['certificate-authority-data'])
    expect(await examine({}, unknown)).toEqual(one(/^reachable: .*certificate.*certificate authority/))
    const stranger = changed(({ users }) => Object.assign(users[0] ?? {}, { user: { token: 'wrong' } }))
    expect(await examine({}, stranger)).toEqual(one(/^authorised: .*Unauthorized.*Renew the credentials/))
  })

  test.each([
    [429, /^authorised: .*slow down.*Wait/],
    [503, /^reachable: .*slow down.*readyz/],
  ])('a server that answers with %s', async (status, text) => {
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message: 'slow down' }))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const path = changed(({ clusters }) =>
        Object.assign(clusters[0] ?? {}, { cluster: { server: address, 'insecure-skip-tls-verify': true } }),
      )
      expect(await examine({}, path)).toEqual(one(text))
    } finally {
      server.close()
    }
  })

  test('rights that are missing, all or some of them', async () => {
    expect(await examine({}, bare.kubeconfig)).toEqual(one(/^authorised: .*cannot list resource "pods".*deploy\/rbac\.yaml/))
    const rules = [{ apiGroups: [''], resources: ['pods', 'persistentvolumeclaims'], verbs: ['create', 'get', 'list', 'patch'] }]
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'atelier' }, rules }
    bare.kubectl(['create', '-f', '-'], JSON.stringify(role))
    bare.kubectl(['create', 'rolebinding', 'atelier', '--role=atelier', `--serviceaccount=${bare.namespace}:atelier`])
    const some = /^rights: .*: delete pods, create pods\/exec, get pods\/exec, delete persistentvolumeclaims\. Give it the rights/
    expect(await examine({}, bare.kubeconfig)).toEqual(one(some))
    expect(bare.left()).toEqual([])
  })

  test('an image that nobody has, a Pod that no node takes, a quota', async () => {
    const nowhere = { image: '127.0.0.1:2/no-such-image:none', imagePullPolicy: 'Never' }
    expect(await examine(nowhere)).toEqual(one(/^create: .*no-such-image:none" can't be pulled.*imagePullSecrets/))
    const picky = { nodeSelector: { nowhere: 'x' }, startTimeoutMs: 1_000 }
    expect(await examine(picky)).toEqual(one(/^create: .*Unschedulable.*Make room/))
    set('ResourceQuota', { hard: { pods: '0' } })
    expect(await examine({})).toEqual(one(/^create: .*exceeded quota.*raise the ResourceQuota/))
    await expect.poll(() => space.left(), { timeout: 30_000 }).toEqual([])
  })
})
