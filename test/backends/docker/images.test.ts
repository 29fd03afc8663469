import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { packEntries } from '../../../src/backends/host/archive.ts'
import { createWorld, failure, IMAGE, MISSING, onEngine, sh, type World } from './support.ts'

const NO_NODE = 'atelier-test-no-node:latest'
const NO_LIBC = 'atelier-test-no-libc:latest'
const NON_ROOT = 'atelier-test-non-root:latest'

describe.skipIf(MISSING !== '')(onEngine('docker: images, users and profiles'), () => {
  let world: World

  /** The test image after a command, with changes to its configuration. */
  async function derive(tag: string, command: string, changes: string[] = []): Promise<void> {
    const container = await world.docker.createContainer({ Image: IMAGE, Cmd: ['sh', '-c', command] })
    await container.start()
    await container.wait()
    const [repo, version] = tag.split(':')
    await container.commit({ repo, tag: version, ...(changes.length > 0 ? { changes: changes.join('\n') } : {}) } as never)
    await container.remove({ force: true })
  }

  beforeAll(async () => {
    world = await createWorld()
    await derive(NO_NODE, 'rm -f $(command -v node)')
    await derive(NON_ROOT, 'useradd -m -u 1234 dev 2>/dev/null || echo "dev:x:1234:1234::/home/dev:/bin/bash" >> /etc/passwd', [
      'USER dev',
    ])
    const text = Buffer.from('no program')
    const entry = { path: 'bin/sh', mode: 0o755, content: { bytes: text } }
    const stream = await world.docker.importImage(packEntries([entry]), { repo: 'atelier-test-no-libc', tag: 'latest' })
    await new Promise(resolve => world.docker.modem.followProgress(stream as never, resolve))
  }, 180_000)
  afterEach(() => world.clear(), 60_000)
  afterAll(async () => {
    for (const tag of [NO_NODE, NO_LIBC, NON_ROOT])
      await world?.docker
        .getImage(tag)
        .remove({ force: true })
        .catch(() => {})
    await world?.remove()
  }, 60_000)

  const HARD = { readOnlyRoot: true, tmpfs: { '/tmp': 'rw,mode=1777' } }

  test.each([
    ['as root', {}],
    ['with a read-only root', HARD],
    [
      'as another user with a read-only root',
      { ...HARD, user: '1500:1500', capDrop: ['ALL'], securityOpt: ['no-new-privileges'] },
    ],
  ])('an image without node gets one: %s', async (_, profile) => {
    const workspace = await world.open('ws-node', { image: NO_NODE, profiles: { it: profile }, profile: 'it' })
    expect(await sh(workspace, 'command -v node || echo none')).toBe('none')
    expect(await sh(workspace, 'echo text > f; cat f; /opt/atelier/node --version')).toBe(`text\n${process.version}`)
    await workspace.close()
    await workspace.close()
    const again = await world.open('ws-node', { image: NO_NODE, profiles: { it: profile }, profile: 'it' })
    expect(await sh(again, 'cat f')).toBe('text')
    await again.destroy()
  })

  test('an image that no node runs on: the error names it and what to do', async () => {
    const error = await failure(world.open('ws-musl', { image: NO_LIBC }))
    expect([error.code, error.message]).toEqual(['unsupported', expect.stringContaining(NO_LIBC)])
    expect(error.hint).toContain('Node 18')
    expect(await world.containers()).toEqual([])
  })

  test("the image's own user is found by name, can write, and has a home", async () => {
    const workspace = await world.open('ws-user', { image: NON_ROOT })
    expect(await sh(workspace, 'id -un; touch made; ls made; echo $HOME')).toBe('dev\nmade\n/home/dev')
    await workspace.destroy()
  })

  test('hardened: no capabilities, no new privileges, a read-only root, and everything still works', async () => {
    const workspace = await world.open('ws-hard', { profile: 'hardened', hostUser: { uid: 1600, gid: 1600 } })
    expect(await sh(workspace, 'id -u; id -g; grep -E "CapEff|NoNewPrivs" /proc/self/status | tr -d "\\t"')).toBe(
      '1600\n1600\nCapEff:0000000000000000\nNoNewPrivs:1',
    )
    expect(await sh(workspace, 'touch /x 2>&1 || true')).toContain('Read-only file system')
    expect(
      await sh(
        workspace,
        'touch "$HOME/h" /tmp/t w && echo "#!/bin/sh" > /tmp/run && chmod +x /tmp/run && /tmp/run && echo fine',
      ),
    ).toBe('fine')
    const { HostConfig } = await (await world.container()).inspect()
    expect(HostConfig).toMatchObject({
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      PidsLimit: 1024,
      SecurityOpt: ['no-new-privileges'],
    })
    await workspace.destroy()
  })

  test("limits, network, environment and mounts are the operator's", async () => {
    const source = join(world.base, 'shared')
    mkdirSync(source, { recursive: true })
    writeFileSync(join(source, 'note'), 'read me')
    const it = {
      ...{ cpus: 0.5, memoryBytes: 300 * 1024 ** 2, pids: 200, network: 'none', env: { PROXY: 'p' }, init: false },
      mounts: [{ source, target: '/shared', readOnly: true }],
    }
    const workspace = await world.open('ws-limits', { profiles: { it }, profile: 'it' }, { env: { OWN: 'o' } })
    expect(await sh(workspace, 'ls /sys/class/net; echo $PROXY $OWN; cat /shared/note; touch /shared/x 2>&1')).toMatch(
      /^lo\np o\nread me.*Read-only/s,
    )
    expect((await (await world.container()).inspect()).HostConfig).toMatchObject({
      NanoCpus: 5e8,
      Memory: 300 * 1024 ** 2,
      PidsLimit: 200,
      Init: false,
    })
    const use = await workspace.usage?.()
    expect(use?.memoryLimitBytes).toBe(300 * 1024 ** 2)
    expect(use?.memoryBytes).toBeGreaterThan(1024 ** 2)
    expect(use?.cpuPercent).toBeGreaterThanOrEqual(0)
    expect(use?.diskFreeBytes).toBeGreaterThan(0)
  })

  test('a call may name only profiles that are open to calls', async () => {
    const own = { profiles: { mine: { pids: 300 } } }
    expect((await failure(world.open('ws-p', own, { profile: 'host' }))).code).toBe('permission_denied')
    expect((await failure(world.open('ws-p', own, { profile: 'nothing' }))).code).toBe('invalid_argument')
    const workspace = await world.open('ws-p', own, { profile: 'mine' })
    expect(workspace.info.details).toMatchObject({ profile: 'mine', image: IMAGE })
    await workspace.close()
    // It is made again as it was, whoever asks.
    const again = await world.open('ws-p', own)
    expect(again.info.details).toMatchObject({ profile: 'mine' })
  })

  test("what root in a container leaves goes back to the host's user, and can be destroyed by it", async () => {
    const hostUser = { uid: 1700, gid: 1701 }
    const directory = join(world.base, 'theirs')
    mkdirSync(directory, { recursive: true })
    chownSync(directory, 1700, 1701)
    const workspace = await world.open('ws-back', { hostUser }, { directory })
    await sh(
      workspace,
      'mkdir -p deep/er; echo x > deep/er/file; ln -s /etc/passwd link; git init -q . && git status >/dev/null && echo ok > git',
    )
    expect(readFileSync(join(directory, 'git'), 'utf8')).toBe('ok\n')
    expect(statSync(join(directory, 'deep/er/file')).uid).toBe(0)
    await workspace.close()
    expect([statSync(join(directory, 'deep/er/file')).uid, statSync(join(directory, 'deep')).gid]).toEqual([1700, 1701])
    expect(statSync('/etc/passwd').uid).toBe(0)
    expect(await world.containers()).toEqual([])
  })
})
