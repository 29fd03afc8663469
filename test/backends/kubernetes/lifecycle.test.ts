import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { resourceName } from '../../../src/backends/kubernetes/names.ts'
import { createWorld, failure, IMAGE, MISSING, OWNER, onCluster, sh, type World } from './support.ts'

describe.skipIf(MISSING !== '')(onCluster('kubernetes: life of a workspace'), () => {
  let world: World

  beforeAll(() => {
    world = createWorld()
  })
  afterEach(() => world.clear())
  afterAll(() => world?.remove())

  test('is made, found and listed by its owner, suspended at close, found again with its files, and deleted with them', async () => {
    const backend = world.backend()
    expect(await backend.find('ws-one')).toBeUndefined()
    const workspace = await world.open('ws-one', {}, { name: 'one', env: { A: '1' } })
    const name = resourceName('ws-one')
    expect(workspace.info).toMatchObject({
      ...{ backend: 'kubernetes', state: 'running', workdir: '/workspace', root: '/workspace', madeByAtelier: true },
      details: { image: IMAGE, namespace: world.space.namespace, pod: name },
    })
    expect(await sh(workspace, 'pwd; echo hi > file; echo "$A"')).toBe('/workspace\n1')
    expect(await backend.find('ws-one')).toMatchObject({ state: 'running', name: 'one', owner: OWNER, env: { A: '1' } })

    expect(await workspace.close()).toEqual({ notices: [] })
    expect(world.left()).toEqual([`PersistentVolumeClaim ${name}`])
    const found = []
    for await (const info of backend.list({ user: 'u' })) found.push(info)
    for await (const info of backend.list({ user: 'somebody' })) found.push(info)
    expect(found).toMatchObject([
      { id: 'ws-one', name: 'one', state: 'suspended', env: { A: '1' }, createdAt: workspace.info.createdAt },
    ])

    // Another host knows nothing but the cluster.
    const again = await world.open('ws-one', { dataDir: `${world.dataDir}-other` })
    expect(await sh(again, 'cat file')).toBe('hi')
    expect(again.info).toMatchObject({ name: 'one', createdAt: workspace.info.createdAt })
    await again.destroy()
    expect(world.left()).toEqual([])
    expect(await backend.find('ws-one')).toBeUndefined()
  })

  test('ids and owners that no label could hold are told apart and found by their owner', async () => {
    const backend = world.backend()
    const users = ['Ä user/with:all kinds', `${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`]
    for (const user of users) {
      const id = `WS_${user}`
      await backend.provision(world.spec(id, { owner: { ...OWNER, user } }))
      expect(await backend.find(id)).toMatchObject({ id, owner: { user } })
      const ids = []
      for await (const info of backend.list({ user })) ids.push(info.id)
      expect(ids).toEqual([id])
    }
    const stranger = await failure(backend.provision(world.spec(`WS_${users[0]}`)))
    expect(stranger.code).toBe('already_exists')
  })

  test('runs as restricted as can be, under an init that reaps orphans, with the gateway as its child', async () => {
    world.kubectl(['label', 'namespace', world.space.namespace, 'pod-security.kubernetes.io/enforce=restricted'])
    try {
      const workspace = await world.open('ws-init')
      expect(await sh(workspace, 'grep -E "CapEff|NoNewPrivs|Seccomp:" /proc/self/status | tr -d "\\t"; id -u')).toBe(
        'CapEff:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n1000',
      )
      expect(await sh(workspace, 'ls /var/run/secrets 2>&1 || true')).toContain('No such file')
      await sh(workspace, '(sleep 0.1 &) ; sleep 0.5')
      expect(await sh(workspace, 'ps -e -o stat= | grep -c Z || true')).toBe('0')
      expect(await sh(workspace, 'ps -e -o ppid=,args= | grep "^ *1 .*[g]ateway.mjs serve" | wc -l')).toBe('1')
      expect(
        await sh(workspace, 'git init -q repo && cd repo && git status --short && touch "$HOME/h" /tmp/t && echo fine'),
      ).toBe('fine')
      const { spec } = world.pod('ws-init')
      expect(spec).toMatchObject({ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false })
    } finally {
      world.kubectl(['label', 'namespace', world.space.namespace, 'pod-security.kubernetes.io/enforce-'])
    }
  })

  test('two hosts that make it at once get the same one; a close while the other is there only detaches', async () => {
    const [a, b] = await Promise.all([world.open('ws-two'), world.open('ws-two')])
    expect(a.info.incarnation).toBe(b.info.incarnation)
    const [one, two] = await Promise.all([sh(a, 'echo a > a; echo done'), sh(b, 'echo b > b; echo done')])
    expect([one, two]).toEqual(['done', 'done'])
    expect(await sh(a, 'cat a b')).toBe('a\nb')
    expect(world.left()).toHaveLength(2)
    const { notices } = await a.close()
    expect(notices.join()).toContain('only detached')
    expect(await sh(b, 'echo still')).toBe('still')
    await b.close()
    expect(world.left()).toHaveLength(1)
  })

  test('an attach waits while the Pod of before is on its way out', async () => {
    const workspace = await world.open('ws-wait')
    await sh(workspace, 'echo kept > file')
    const before = world.pod('ws-wait').metadata?.uid
    world.kubectl(['delete', 'pod', resourceName('ws-wait'), '--wait=false'])
    const again = await world.open('ws-wait')
    expect(again.info.incarnation).not.toBe(before)
    expect(again.info.ended).toContain('deleted')
    expect(await sh(again, 'cat file')).toBe('kept')
    await workspace.detach()
  })

  test('a Pod or a claim of that name that is not ours is refused and left alone', async () => {
    const name = resourceName('ws-strange')
    const metadata = { name }
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    }
    world.kubectl(['create', '-f', '-'], JSON.stringify(claim))
    const claimed = await failure(world.open('ws-strange'))
    expect([claimed.code, claimed.message]).toEqual(['already_exists', expect.stringContaining(name)])
    expect(world.left()).toEqual([`PersistentVolumeClaim ${name}`])
    world.clear()
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'IfNotPresent', command: ['sleep', '60'] }] },
    }
    world.kubectl(['create', '-f', '-'], JSON.stringify(pod))
    const taken = await failure(world.open('ws-strange'))
    expect([taken.code, taken.message]).toEqual(['already_exists', expect.stringContaining(name)])
    expect(world.left()).toEqual([`Pod ${name}`])
  })

  test("limits, users, labels and the rest of the Pod are the operator's", async () => {
    const workspace = await world.open(
      'ws-limits',
      {
        ...{
          labels: { team: 'x' },
          annotations: { note: 'y' },
          env: { PROXY: 'p' },
          storageSize: '7Mi',
          storageClass: 'standard',
        },
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'k', operator: 'Exists' }],
        podSecurityContext: { runAsUser: 1234, runAsGroup: 1234 },
        profiles: { small: { resources: { requests: { cpu: '50m' }, limits: { memory: '300Mi' } } } },
        podPatch: {
          spec: {
            volumes: [{ name: 'extra', emptyDir: {} }],
            containers: [{ name: 'workspace', volumeMounts: [{ name: 'extra', mountPath: '/extra' }] }],
          },
        },
        patchPod: pod => ({ ...pod, spec: { ...pod.spec, hostname: 'patched' } }),
      },
      { profile: 'small' },
    )
    expect(await sh(workspace, 'id -u; id -g; echo $PROXY; touch /extra/x && ls /extra; hostname; touch made')).toBe(
      '1234\n1234\np\nx\npatched',
    )
    const { metadata, spec } = world.pod('ws-limits')
    expect(metadata).toMatchObject({
      labels: { team: 'x', 'app.kubernetes.io/managed-by': 'atelier' },
      annotations: { note: 'y' },
    })
    expect(spec).toMatchObject({ nodeSelector: { 'kubernetes.io/os': 'linux' } })
    expect(spec?.tolerations).toContainEqual({ key: 'k', operator: 'Exists' })
    expect(spec?.containers[0]?.resources).toMatchObject({ requests: { cpu: '50m' }, limits: { memory: '300Mi' } })
    expect(workspace.info.details).toMatchObject({ profile: 'small' })
    const use = await workspace.usage?.()
    expect(use?.memoryLimitBytes).toBe(300 * 1024 ** 2)
    expect(use?.memoryBytes).toBeGreaterThan(1024 ** 2)
    expect(use?.cpuPercent).toBeGreaterThanOrEqual(0)
    expect(use?.diskFreeBytes).toBeGreaterThan(0)
    const unknown = await failure(world.open('ws-other', {}, { profile: 'nothing' }))
    expect(unknown.code).toBe('invalid_argument')
  })

  test('bootstrap: exec gives bytes and exit code, and leaves nothing at its limit; upload writes with a mode', async () => {
    const environment = await world.backend().provision(world.spec('ws-boot'))
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const input = Buffer.from('in')
    const { exitCode, stdout, stderr } = await environment.exec(['sh', '-c', 'cat; echo err >&2; exit 3'], { input })
    expect([exitCode, text(stdout), text(stderr)]).toEqual([3, 'in', 'err\n'])
    const late = await failure(environment.exec(['sh', '-c', 'sleep 321 & sleep 322'], { timeoutMs: 1_000 }))
    expect(late.code).toBe('timeout')
    await expect
      .poll(async () => text((await environment.exec(['sh', '-c', 'pgrep -x sleep | wc -l'])).stdout).trim(), { timeout: 10_000 })
      .toBe('0')
    const missing = await failure(
      environment.exec(['/no/such/program']).then(({ exitCode }) => Promise.reject(new Error(`${exitCode}`))),
    )
    expect(missing.message).toMatch(/^12[67]$/)
    await environment.upload([
      { path: 'sub/tool', data: Buffer.from('#!/bin/sh\necho ran'), mode: 0o755 },
      { path: '/tmp/note', data: Buffer.from('n'), mode: 0o600 },
    ])
    const ran = await environment.exec(['sh', '-c', '/workspace/sub/tool; stat -c %a /tmp/note'])
    expect(text(ran.stdout)).toBe('ran\n600\n')
    const full = await failure(environment.upload([{ path: '/proc/none', data: Buffer.from('x'), mode: 0o600 }]))
    expect(full.code).toBe('permission_denied')
    await environment.destroy()
    expect(world.left()).toEqual([])
  })

  test('a stream carries every byte both ways, half-closes, and dies with its carrier', async () => {
    const environment = await world.backend().provision(world.spec('ws-stream'))
    const bytes = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, at) => (at * 31 + (at >> 8)) & 255))
    const echo = await environment.openStream(['cat'])
    echo.end(bytes)
    const back: Buffer[] = []
    for await (const part of echo) back.push(part as Buffer)
    expect(Buffer.concat(back).equals(bytes)).toBe(true)

    const counted = await environment.openStream(['sh', '-c', 'wc -c; echo after'])
    counted.end(Buffer.alloc(1_000_000))
    let said = ''
    for await (const part of counted) said += String(part)
    expect(said).toBe('1000000\nafter\n')

    const cut = await environment.openStream(['sleep', '300'])
    const ended = new Promise<Error | undefined>(resolve => {
      cut.once('error', resolve)
      cut.once('end', () => resolve(undefined))
    })
    cut.resume()
    world.kubectl(['delete', 'pod', resourceName('ws-stream'), '--force', '--grace-period=0'])
    await ended
    expect(cut.destroyed || cut.readableEnded).toBe(true)
  })

  test('an abandoned one ends by itself, and the next attach makes it again on the same files', async () => {
    const workspace = await world.open('ws-idle', { limits: { gatewayIdleMs: 1_000 } }, { goodbye: 'detach' })
    await sh(workspace, 'echo kept > file')
    await workspace.detach()
    await expect.poll(() => world.pod('ws-idle').status?.phase, { timeout: 30_000 }).toBe('Succeeded')
    expect(await world.backend().find('ws-idle')).toMatchObject({ state: 'suspended' })
    const again = await world.open('ws-idle')
    expect(await sh(again, 'cat file')).toBe('kept')
  })
})
