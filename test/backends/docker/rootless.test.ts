import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { HostUser } from '../../../src/backends/docker/container-options.ts'
import { connectEngine } from '../../../src/backends/docker/engine.ts'
import { type EngineForm, engineArguments, noOwnEngine, type OwnEngine, startOwnEngine, titled } from './own-engine.ts'
import { createWorld, sh, type World } from './support.ts'
import { TINY_IMAGE } from './tiny-image.ts'

const USER = `at-rl-${process.pid}`
const WHY = noOwnEngine('rootlesskit', 'newuidmap', 'setpriv', 'unshare', 'useradd', 'userdel') || refusal()

/** Why the kernel lets no ordinary user have a namespace; empty where it does. */
function refusal(): string {
  const refusing = [
    ['/proc/sys/user/max_user_namespaces', '0'],
    ['/proc/sys/kernel/unprivileged_userns_clone', '0'],
    ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'],
  ].find(([path = '', value]) => existsSync(path) && readFileSync(path, 'utf8').trim() === value)
  return refusing === undefined ? '' : `the kernel refuses namespaces of users: ${refusing.join(' is ')}`
}

/** By an ordinary user that is made for it. Its network is one of its own that leads nowhere, so that it needs no device of the host. */
const ROOTLESS: EngineForm = {
  prepare(folder) {
    execFileSync('useradd', ['--no-create-home', '--home-dir', folder, USER], { stdio: 'ignore' })
    const { uid, gid } = hostUser()
    mkdirSync(join(folder, 'run'))
    for (const path of [folder, join(folder, 'run')]) chownSync(path, uid, gid)
    return []
  },
  command: (folder, args) => [
    ...['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'],
    ...['env', `HOME=${folder}`, `XDG_RUNTIME_DIR=${join(folder, 'run')}`],
    ...['rootlesskit', '--net=host', '--copy-up=/etc', '--copy-up=/run', `--state-dir=${join(folder, 'kit')}`],
    ...['sh', '-c', 'rm -f /run/docker /run/containerd /run/xtables.lock; exec "$@"', 'sh'],
    ...['unshare', '--net', 'dockerd', '--rootless', ...engineArguments(folder), ...args],
  ],
  tidy: () => execFileSync('userdel', [USER], { stdio: 'ignore' }),
}

function hostUser(): HostUser {
  const [uid, gid] = ['-u', '-g'].map(which => Number(execFileSync('id', [which, USER], { encoding: 'utf8' })))
  return { uid: uid ?? 0, gid: gid ?? 0 }
}

describe.skipIf(WHY !== '')(titled('docker: a rootless engine', WHY), () => {
  let engine: OwnEngine
  let world: World
  let user: HostUser

  beforeAll(async () => {
    engine = await startOwnEngine([], ROOTLESS)
    user = hostUser()
    // From here on this process is that user to the file system.
    process.setegid?.(user.gid)
    process.seteuid?.(user.uid)
    world = await createWorld({ env: { DOCKER_HOST: engine.host }, image: TINY_IMAGE })
  })
  afterEach(() => world?.clear())
  afterAll(async () => {
    await world?.remove()
    process.seteuid?.(0)
    process.setegid?.(0)
    await engine?.[Symbol.asyncDispose]()
  })

  const ownerOf = (path: string) => {
    const { uid, gid } = statSync(path)
    return `${uid}:${gid}`
  }

  test('is known as one, and says so', async () => {
    expect(await connectEngine({ env: { DOCKER_HOST: engine.host } })).toMatchObject({
      rootless: true,
      userNamespace: false,
      local: true,
    })
    const [step] = await world.backend().probe()
    expect(step?.detail).toContain('rootless')
  })

  test.each(['default', 'host'])("the profile %s: root inside is the host's user in a bound directory", async profile => {
    const directory = mkdtempSync(join(tmpdir(), 'at-rl-'))
    try {
      const options = { hostUser: user, profile }
      for (const more of [{}, { directory }]) {
        const workspace = await world.open(`ws-rl-${profile}-${Object.keys(more).length}`, options, more)
        expect(await sh(workspace, 'id -u; mkdir -m 700 deep; echo text > deep/file; stat -c %u deep/file')).toBe('0\n0')
        const place = 'directory' in more ? directory : join(world.dataDir, 'docker', workspace.info.id, 'workspace')
        expect(ownerOf(join(place, 'deep/file'))).toBe(`${user.uid}:${user.gid}`)
        expect(readFileSync(join(place, 'deep/file'), 'utf8')).toBe('text\n')
        await workspace.close()
        expect(ownerOf(join(place, 'deep/file'))).toBe(`${user.uid}:${user.gid}`)
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  test("another user inside can write there too, and what it made is the host's user's at close", async () => {
    const profiles = { other: { user: '1500:1500' } }
    const options = { hostUser: user, profiles, profile: 'other' }
    const workspace = await world.open('ws-rl-other', options)
    const file = join(world.dataDir, 'docker', 'ws-rl-other', 'workspace', 'deep/file')
    expect(await sh(workspace, 'id -u; mkdir -m 755 deep; echo text > deep/file; stat -c %u deep/file')).toBe('1500\n1500')
    expect(ownerOf(file)).not.toBe(`${user.uid}:${user.gid}`)
    await workspace.close()
    expect(ownerOf(file)).toBe(`${user.uid}:${user.gid}`)
    const again = await world.open('ws-rl-other', options)
    await again.destroy()
    expect(() => statSync(file)).toThrow('ENOENT')
  })
})
