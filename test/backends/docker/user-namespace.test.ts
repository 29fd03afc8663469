import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connectEngine } from '../../../src/backends/docker/engine.ts'
import { noOwnEngine, type OwnEngine, startOwnEngine, titled } from './own-engine.ts'
import { createWorld, sh, type World } from './support.ts'
import { TINY_IMAGE } from './tiny-image.ts'

const WHY = noOwnEngine('useradd', 'userdel')
const hasRemapped = () => /^dockremap:/m.test(readFileSync('/etc/passwd', 'utf8'))

describe.skipIf(WHY !== '')(titled('docker: an engine with --userns-remap', WHY), () => {
  let engine: OwnEngine
  let world: World
  let hadUser: boolean

  beforeAll(async () => {
    // The engine makes this user where there is none.
    hadUser = hasRemapped()
    engine = await startOwnEngine(['--userns-remap=default'])
    world = await createWorld({ env: { DOCKER_HOST: engine.host }, image: TINY_IMAGE })
  })
  afterEach(() => world?.clear())
  afterAll(async () => {
    await world?.remove()
    await engine?.[Symbol.asyncDispose]()
    if (!hadUser && hasRemapped()) execFileSync('userdel', ['dockremap'], { stdio: 'ignore' })
  })

  const ownerOf = (path: string) => {
    const { uid, gid } = statSync(path)
    return `${uid}:${gid}`
  }

  test('is known as one, and says so', async () => {
    expect(await connectEngine({ env: { DOCKER_HOST: engine.host } })).toMatchObject({ userNamespace: true, rootless: false })
    const [step] = await world.backend().probe()
    expect(step?.detail).toContain('with user namespaces')
  })

  const hosts = [
    ['root of this host', { uid: 0, gid: 0 }],
    ['another user of it', { uid: 1700, gid: 1701 }],
  ] as const

  test.each(hosts)(
    'a workspace by name: root inside works on its files time and again, and they go with it: %s',
    async (_, hostUser) => {
      const id = `ws-ns-${hostUser.uid}`
      for (const round of ['one', 'two']) {
        const workspace = await world.open(id, { hostUser })
        expect(await sh(workspace, `mkdir -p deep; echo ${round} >> deep/file; cat /proc/self/uid_map`)).toMatch(/^0 +[1-9]\d+ /)
        expect(await sh(workspace, 'stat -c %u deep/file; wc -l < deep/file')).toBe(`0\n${round === 'one' ? 1 : 2}`)
        await workspace.close()
      }
      const folder = join(world.dataDir, 'docker', id)
      expect(readFileSync(join(folder, 'workspace/deep/file'), 'utf8')).toBe('one\ntwo\n')
      const workspace = await world.open(id, { hostUser })
      await sh(workspace, 'mkdir -m 700 private; touch private/x')
      await workspace.destroy()
      expect(existsSync(folder)).toBe(false)
    },
  )

  test.each(hosts)(
    "the user's own directory, open to all: what root inside made is the host's user's at close: %s",
    async (_, hostUser) => {
      const directory = join(world.base, `own-${hostUser.uid}`)
      mkdirSync(directory)
      chmodSync(directory, 0o777)
      chownSync(directory, hostUser.uid, hostUser.gid)
      const workspace = await world.open(`ws-own-${hostUser.uid}`, { hostUser }, { directory })
      await sh(workspace, 'mkdir -p deep; echo text > deep/file')
      expect(ownerOf(join(directory, 'deep/file'))).not.toBe(`${hostUser.uid}:${hostUser.gid}`)
      await workspace.close()
      expect(ownerOf(join(directory, 'deep/file'))).toBe(`${hostUser.uid}:${hostUser.gid}`)
    },
  )

  test('the profile "host" works on files as they are, without a namespace', async () => {
    const hostUser = { uid: 1700, gid: 1701 }
    const directory = join(world.base, 'host')
    mkdirSync(directory)
    writeFileSync(join(directory, 'mine'), 'mine\n', { mode: 0o600 })
    for (const path of [directory, join(directory, 'mine')]) chownSync(path, 1700, 1701)
    const workspace = await world.open('ws-ns-host', { hostUser, profile: 'host' }, { directory })
    expect(await sh(workspace, 'cat mine; id -u; echo x > theirs; touch "$HOME/h" && echo home')).toBe('mine\n1700\nhome')
    expect(ownerOf(join(directory, 'theirs'))).toBe('1700:1701')
    await workspace.close()
  })
})
