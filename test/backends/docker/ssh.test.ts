import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectEngine } from '../../../src/backends/docker/engine.ts'
import { killOne, processesNaming, until } from '../../support/processes.ts'
import { expectFilesToStay, freePort, noOwnEngine, type OwnEngine, startOwnEngine, titled } from './own-engine.ts'
import { createWorld, failure, sh } from './support.ts'
import { TINY_IMAGE } from './tiny-image.ts'

const WHY = noOwnEngine('sshd', 'ssh', 'ssh-keygen', 'docker')

const newKey = (path: string) => execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
const answers = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket.destroy() !== undefined)).once('error', () => resolve(false))
  })

describe.skipIf(WHY !== '')(titled('docker: an engine over ssh', WHY), () => {
  let base: string
  let engine: OwnEngine
  let sshd: ChildProcess
  let host: string
  let known: string

  /** What `ssh` finds as its user's configuration. */
  const configure = (options: { key?: string; knownHosts?: string } = {}) => {
    const { key = 'key', knownHosts = known } = options
    writeFileSync(join(base, 'known_hosts'), knownHosts)
    const lines = [
      ...[`IdentityFile ${join(base, key)}`, 'IdentitiesOnly yes', 'IdentityAgent none'],
      ...[`UserKnownHostsFile ${join(base, 'known_hosts')}`, 'GlobalKnownHostsFile /dev/null'],
    ]
    writeFileSync(join(base, 'config'), `${lines.join('\n')}\n`)
  }

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'at-ssh-'))
    engine = await startOwnEngine()
    const port = await freePort()
    host = `ssh://${userInfo().username}@127.0.0.1:${port}`
    for (const name of ['host-key', 'key', 'other-key']) newKey(join(base, name))
    copyFileSync(join(base, 'key.pub'), join(base, 'authorized'))
    known = `[127.0.0.1]:${port} ${readFileSync(join(base, 'host-key.pub'), 'utf8')}`
    const lines = [
      ...[
        `ListenAddress 127.0.0.1:${port}`,
        `HostKey ${join(base, 'host-key')}`,
        `AuthorizedKeysFile ${join(base, 'authorized')}`,
      ],
      ...['PidFile none', 'UsePAM no', 'StrictModes no', 'PasswordAuthentication no', 'KbdInteractiveAuthentication no'],
      // The engine that somebody who comes this way is at.
      `SetEnv DOCKER_HOST=${engine.host} PATH=${process.env.PATH}`,
    ]
    writeFileSync(join(base, 'sshd_config'), `${lines.join('\n')}\n`)
    mkdirSync('/run/sshd', { recursive: true })
    const program = execFileSync('sh', ['-c', 'command -v sshd'], { encoding: 'utf8' }).trim()
    sshd = spawn(program, ['-D', '-E', join(base, 'sshd.log'), '-f', join(base, 'sshd_config')], { stdio: 'ignore' })
    await until(() => answers(port), 'sshd answers')
    // The user's own configuration is none of the test's.
    const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim()
    mkdirSync(join(base, 'bin'))
    writeFileSync(join(base, 'bin/ssh'), `#!/bin/sh\nexec ${ssh} -F ${join(base, 'config')} "$@"\n`)
    chmodSync(join(base, 'bin/ssh'), 0o755)
    vi.stubEnv('PATH', `${join(base, 'bin')}:${process.env.PATH}`)
  })
  beforeEach(() => configure())
  afterAll(async () => {
    vi.unstubAllEnvs()
    if (sshd?.kill()) await once(sshd, 'exit')
    await engine?.[Symbol.asyncDispose]()
    rmSync(base, { recursive: true, force: true })
  })

  test('DOCKER_HOST=ssh://: commands run, files stay in a volume, and no connection stays behind', async () => {
    const world = await createWorld({ env: { DOCKER_HOST: host }, image: TINY_IMAGE })
    try {
      await expectFilesToStay(world, 'ws-ssh')
    } finally {
      await world.remove()
    }
    await until(() => processesNaming(join(base, 'config')).length === 0, 'the last ssh ends')
  })

  test('every ssh is cut while a command runs: the link resumes, and the output is whole', async () => {
    const world = await createWorld({ env: { DOCKER_HOST: host }, image: TINY_IMAGE })
    try {
      const workspace = await world.open('ws-ssh-cut')
      await sh(workspace, 'true')
      const running = sh(workspace, 'touch begun; for i in $(seq 30); do echo "line $i"; sleep 0.1; done')
      await expect.poll(() => sh(workspace, 'cat begun && echo yes', { session: 'other' }), { timeout: 20_000 }).toBe('yes')
      const cut = processesNaming(join(base, 'config'))
      expect(cut).not.toEqual([])
      for (const { pid } of cut) killOne(pid)
      expect(await running).toBe(Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n'))
      expect(workspace.takeNotices()).toEqual([])
      await workspace.destroy()
    } finally {
      await world.remove()
    }
  })

  test('a context that names a host by ssh', async () => {
    const DOCKER_CONFIG = join(base, 'docker')
    const argv = ['--config', DOCKER_CONFIG, 'context', 'create', 'far', '--docker', `host=${host}`]
    execFileSync('docker', argv, { stdio: 'ignore' })
    const { address, local, version } = await connectEngine({ env: { DOCKER_CONFIG, DOCKER_CONTEXT: 'far' } })
    expect([address, local, version]).toEqual([host, false, (await engine.docker.version()).Version])
  })

  test('a host key that is not known, or is another one: the error says so, and nobody is asked', async () => {
    for (const knownHosts of ['', known.replace(/ssh-ed25519 \S+/, readFileSync(join(base, 'other-key.pub'), 'utf8').trim())]) {
      configure({ knownHosts })
      const error = await failure(connectEngine({ env: { DOCKER_HOST: host } }))
      expect([error.code, error.message]).toEqual([
        'unavailable',
        expect.stringMatching(/its host key is not known.*verification failed/),
      ])
      expect(error.hint).toContain('known_hosts')
      expect(readFileSync(join(base, 'known_hosts'), 'utf8')).toBe(knownHosts)
    }
  })

  test('a key that is refused: the error says so, and nobody is asked', async () => {
    configure({ key: 'other-key' })
    const error = await failure(connectEngine({ env: { DOCKER_HOST: host } }))
    expect([error.code, error.message]).toEqual(['unauthenticated', expect.stringMatching(/no key was accepted.*publickey/)])
    expect(error.hint).toMatch(/ssh-add.*config/)
  })

  test('nobody listens, or there is no engine at the other end: the error has the words of ssh', async () => {
    const refused = await failure(connectEngine({ env: { DOCKER_HOST: `ssh://127.0.0.1:${await freePort()}` } }))
    expect([refused.code, refused.message]).toEqual(['unavailable', expect.stringMatching(/ssh:.*refused/)])
    const absent = await failure(connectEngine({ env: { DOCKER_HOST: `${host}/no/such.sock` } }))
    expect([absent.code, absent.message]).toEqual(['unavailable', expect.stringContaining('/no/such.sock')])
    expect(absent.hint).toContain('docker version')
  })

  test('without the program ssh: the error names what to install', async () => {
    const path = process.env.PATH
    vi.stubEnv('PATH', join(base, 'nothing'))
    try {
      const error = await failure(connectEngine({ env: { DOCKER_HOST: host } }))
      expect([error.code, error.hint]).toEqual(['unsupported', expect.stringContaining('openssh-client')])
    } finally {
      vi.stubEnv('PATH', path)
    }
  })
})
