import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findEndpoint, isLocal } from '../../../src/backends/docker/endpoint.ts'
import { clientOptions } from '../../../src/backends/docker/engine.ts'
import { sshArguments } from '../../../src/backends/docker/ssh-agent.ts'

describe('where the engine is', () => {
  let home: string
  const context = (name: string, host: string | undefined) => {
    const id = createHash('sha256').update(name).digest('hex')
    mkdirSync(join(home, '.docker/contexts/meta', id), { recursive: true })
    writeFileSync(
      join(home, '.docker/contexts/meta', id, 'meta.json'),
      JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }),
    )
    return join(home, '.docker/contexts/tls', id, 'docker')
  }

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'at-home-'))
    context('away', 'ssh://me@far')
    mkdirSync(context('safe', 'tcp://safe:2376'), { recursive: true })
    context('other', undefined)
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  test('settings come before DOCKER_HOST, that before contexts, those before the sockets that are there', () => {
    const env = { HOME: home, DOCKER_HOST: 'unix:///x.sock', DOCKER_CONTEXT: 'away' }
    expect(findEndpoint({ host: 'far:99', env }).address).toBe('tcp://far:99')
    expect(findEndpoint({ context: 'safe', env })).toMatchObject({
      address: 'tcp://safe:2376',
      tlsFolder: expect.stringContaining('tls'),
    })
    expect(findEndpoint({ env }).address).toBe('unix:///x.sock')
    expect(findEndpoint({ env: { HOME: home, DOCKER_CONTEXT: 'away' } }).address).toBe('ssh://me@far')
    expect(findEndpoint({ context: 'default', env: {} }).address).toBe('unix:///var/run/docker.sock')
    expect(findEndpoint({ env: { HOME: home, XDG_RUNTIME_DIR: home } }).address).toBe('unix:///var/run/docker.sock')
    writeFileSync(join(home, 'docker.sock'), '')
    expect(findEndpoint({ env: { HOME: home, XDG_RUNTIME_DIR: home } }).address).toBe(`unix://${home}/docker.sock`)
    writeFileSync(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'away' }))
    expect(findEndpoint({ env: { HOME: home } }).address).toBe('ssh://me@far')
  })

  test('a context that is not there, or names no engine, is refused by name', () => {
    for (const name of ['nowhere', 'other']) {
      expect(() => findEndpoint({ context: name, env: { HOME: home } })).toThrow(name)
    }
  })

  test.each([
    ['unix:///a/b.sock', { protocol: 'http', socketPath: '/a/b.sock', host: undefined }],
    ['npipe:////./pipe/docker_engine', { socketPath: '//./pipe/docker_engine' }],
    ['tcp://h', { protocol: 'http', host: 'h', port: 2375 }],
    ['tcp://h:1/prefix', { protocol: 'http', host: 'h', port: 1, pathPrefix: '/prefix' }],
    ['https://h', { protocol: 'https', host: 'h', port: 2376 }],
  ])('%s becomes options of the client, all of them explicit', (address, options) => {
    expect(clientOptions({ address, source: 'test', verify: true })).toMatchObject(options)
  })

  test.each([
    ['ssh://h', ['--', 'h', 'docker system dial-stdio']],
    ['ssh://me@h:2222', ['-l', 'me', '-p', '2222', '--', 'h', 'docker system dial-stdio']],
    [
      "ssh://a%20b@[::1]/run/it's.sock",
      ['-l', 'a b', '--', '::1', "docker --host 'unix:///run/it'\\''s.sock' system dial-stdio"],
    ],
  ])('%s is reached by the program ssh, which never asks', (address, expected) => {
    const argv = sshArguments(new URL(address))
    expect(argv.slice(-expected.length)).toEqual(expected)
    expect(argv).toContain('BatchMode=yes')
  })

  test('certificates are read from their folder, and an address that is none is refused', () => {
    const folder = join(home, 'certs')
    mkdirSync(folder)
    for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, `${name}.pem`), name)
    const endpoint = findEndpoint({ host: 'h:2376', env: { DOCKER_CERT_PATH: folder, DOCKER_TLS_VERIFY: '1' } })
    expect(clientOptions(endpoint)).toMatchObject({ protocol: 'https', ca: 'ca', cert: 'cert', key: 'key' })
    for (const address of ['ftp://h', 'tcp://', 'tcp://a b']) {
      expect(() => clientOptions({ address, source: 'DOCKER_HOST', verify: true })).toThrow('DOCKER_HOST')
    }
    expect([isLocal({ address: 'unix:///x' }), isLocal({ address: 'tcp://h' })]).toEqual([true, false])
  })
})
