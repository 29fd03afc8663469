import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectEngine } from '../../../src/backends/docker/engine.ts'
import { expectFilesToStay, freePort, noOwnEngine, type OwnEngine, startOwnEngine, titled } from './own-engine.ts'
import { createWorld, failure } from './support.ts'
import { TINY_IMAGE } from './tiny-image.ts'

const WHY = noOwnEngine('openssl', 'docker')

/** An authority in `folder`, with what it signs. */
function createAuthority(folder: string) {
  mkdirSync(folder, { recursive: true })
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const newKey = (name: string, subject: string) => [
    ...[
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      `${name}-key.pem`,
      '-subj',
      `/CN=${subject}`,
    ],
  ]
  openssl('req', '-x509', '-days', '2', '-out', 'ca.pem', ...newKey('ca', `authority of ${basename(folder)}`))
  return {
    ca: join(folder, 'ca.pem'),
    /** Paths of a certificate and its key. */
    sign(name: string, extensions: string) {
      openssl('req', '-out', `${name}.csr`, ...newKey(name, name))
      writeFileSync(join(folder, `${name}.ext`), extensions)
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-extfile', `${name}.ext`]
      openssl('x509', '-req', '-days', '2', '-in', `${name}.csr`, '-out', `${name}.pem`, ...by)
      return { cert: join(folder, `${name}.pem`), key: join(folder, `${name}-key.pem`) }
    },
  }
}

describe.skipIf(WHY !== '')(titled('docker: an engine over TLS', WHY), () => {
  let base: string
  let engine: OwnEngine
  let host: string
  let own: ReturnType<typeof createAuthority>
  let client: { cert: string; key: string }
  let stranger: { cert: string; key: string }
  let strangers: ReturnType<typeof createAuthority>

  /** A folder as DOCKER_CERT_PATH names it, with these files. */
  const certificates = (name: string, files: Record<string, string>): string => {
    const folder = join(base, name)
    mkdirSync(folder)
    for (const [as, path] of Object.entries(files)) copyFileSync(path, join(folder, `${as}.pem`))
    return folder
  }
  const over = (folder: string) => ({ DOCKER_HOST: host, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: folder })
  /** A context made by the docker command, as its variables. */
  const context = (name: string, endpoint: string) => {
    const DOCKER_CONFIG = join(base, 'config')
    execFileSync('docker', ['--config', DOCKER_CONFIG, 'context', 'create', name, '--docker', endpoint], { stdio: 'ignore' })
    return { DOCKER_CONFIG, DOCKER_CONTEXT: name }
  }

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'at-tls-'))
    own = createAuthority(join(base, 'own'))
    strangers = createAuthority(join(base, 'strangers'))
    const server = own.sign('server', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n')
    client = own.sign('client', 'extendedKeyUsage=clientAuth\n')
    stranger = strangers.sign('client', 'extendedKeyUsage=clientAuth\n')
    host = `tcp://127.0.0.1:${await freePort()}`
    const tls = ['--tlsverify', '--tlscacert', own.ca, '--tlscert', server.cert, '--tlskey', server.key]
    engine = await startOwnEngine(['-H', host, ...tls])
  })
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]()
    rmSync(base, { recursive: true, force: true })
  })

  test('DOCKER_HOST with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH: commands run, and files stay in a volume', async () => {
    const world = await createWorld({ env: over(certificates('good', { ca: own.ca, ...client })), image: TINY_IMAGE })
    try {
      await expectFilesToStay(world, 'ws-tls')
    } finally {
      await world.remove()
    }
  })

  test('a context with certificates, and one that skips the check of the server', async () => {
    const files = `ca=${own.ca},cert=${client.cert},key=${client.key}`
    const checked = await connectEngine({ env: context('checked', `host=${host},${files}`) })
    const { port } = new URL(host)
    const named = `host=tcp://localhost:${port}`
    const unchecked = await connectEngine({
      env: context('unchecked', `${named},skip-tls-verify=true,cert=${client.cert},key=${client.key}`),
    })
    expect([checked.address, unchecked.address]).toEqual([host, `tcp://localhost:${port}`])
    expect(unchecked.version).toBe(checked.version)
    // Without the skip, the same address is not what the certificate names.
    const error = await failure(connectEngine({ env: context('misnamed', `${named},${files}`) }))
    expect([error.code, error.message, error.hint]).toEqual([
      'unavailable',
      expect.stringMatching(/localhost.*its certificate is not accepted/),
      expect.stringContaining('ca.pem'),
    ])
  })

  test.each([
    ['no client certificate', () => ({ ca: own.ca }), 'unauthenticated', /does not accept this client/, /cert\.pem and key\.pem/],
    ['that of a stranger', () => ({ ca: own.ca, ...stranger }), 'unauthenticated', /does not accept this client/, /authority/],
    ['another authority', () => ({ ca: strangers.ca, ...client }), 'unavailable', /certificate is not accepted/, /ca\.pem/],
    ['no authority', () => client, 'unavailable', /certificate is not accepted/, /ca\.pem/],
    ['a key of another certificate', () => ({ ...client, ca: own.ca, key: stranger.key }), 'invalid_argument', /no use/, /PEM/],
    [
      'a file that is no certificate',
      () => ({ ...client, ca: own.ca, cert: '/etc/passwd' }),
      'invalid_argument',
      /no use/,
      /PEM/,
    ],
  ] as const)('%s: the error says whose certificate is wrong, and where it belongs', async (name, files, code, message, hint) => {
    const folder = certificates(name.replaceAll(' ', '-'), files())
    const error = await failure(connectEngine({ env: over(folder) }))
    expect([error.code, error.message, error.hint]).toEqual([code, expect.stringMatching(message), expect.stringMatching(hint)])
    expect(error.message).toContain(host)
    expect(error.hint).toContain(folder)
  })

  test('one of the two does not speak TLS: the error says which', async () => {
    const plain = await failure(connectEngine({ env: { DOCKER_HOST: host } }))
    expect([plain.code, plain.message]).toEqual(['unauthenticated', expect.stringContaining('speaks TLS alone')])
    expect(plain.hint).toContain('DOCKER_TLS_VERIFY')
    const server = createServer((_, response) => response.end('{}'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const env = {
        ...over(certificates('plain', { ca: own.ca })),
        DOCKER_HOST: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      }
      const error = await failure(connectEngine({ env }))
      expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining('does not speak TLS')])
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  })
})
