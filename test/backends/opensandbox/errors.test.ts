import * as sdk from '@alibaba-group/opensandbox'
import { describe, expect, test } from 'vitest'
import { createRequest } from '../../../src/backends/opensandbox/create.ts'
import { isPassing, openSandboxError } from '../../../src/backends/opensandbox/errors.ts'
import { newRecord } from '../../../src/backends/opensandbox/record.ts'
import type { OpenSandboxContext } from '../../../src/backends/opensandbox/service.ts'
import { DEFAULT_ENTRYPOINT } from '../../../src/backends/opensandbox/settings.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'

const answer = (statusCode: number, code: string, message = 'the reason') =>
  new sdk.SandboxApiException({ message, statusCode, error: new sdk.SandboxError(code, message), rawBody: { code, message } })

describe('opensandbox: errors', () => {
  test.each([
    [answer(401, 'INVALID_API_KEY'), 'unauthenticated', 'OPEN_SANDBOX_API_KEY'],
    [answer(403, 'FORBIDDEN'), 'permission_denied', 'OPEN_SANDBOX_API_KEY'],
    [answer(404, 'DOCKER::SANDBOX_NOT_FOUND'), 'environment_gone', 'Call again'],
    [answer(404, 'FILE_NOT_FOUND'), 'not_found', undefined],
    [answer(400, 'SANDBOX::INVALID_METADATA_LABEL'), 'invalid_argument', 'opensandbox.metadata'],
    [answer(400, 'VOLUME::HOST_PATH_NOT_ALLOWED'), 'permission_denied', 'allowed_host_paths'],
    [answer(409, 'DOCKER::SANDBOX_NOT_PAUSED'), 'precondition_failed', 'Try again'],
    [answer(422, 'UNEXPECTED_RESPONSE'), 'invalid_argument', undefined],
    [answer(429, 'RATE_LIMITED'), 'limit_exceeded', 'Wait'],
    [answer(500, 'DOCKER::SANDBOX_IMAGE_PULL_FAILED'), 'not_found', 'opensandbox.image'],
    [answer(500, 'DOCKER::ERROR', 'write x: no space left on device'), 'no_space', 'Free space'],
    [answer(503, 'BUSY'), 'unavailable', 'opensandbox.domain'],
    [new sdk.SandboxReadyTimeoutException({ message: 'the reason' }), 'timeout', undefined],
    [new sdk.SandboxUnhealthyException({ message: 'the reason' }), 'unavailable', undefined],
    [new sdk.SandboxInternalException({ message: 'the reason' }), 'unavailable', undefined],
    [new sdk.InvalidArgumentException({ message: 'the reason' }), 'invalid_argument', undefined],
    [Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }), 'unavailable', 'opensandbox.domain'],
    [new DOMException('The operation timed out', 'TimeoutError'), 'timeout', 'opensandbox.domain'],
    [new Error('List sandboxes failed: unexpected response shape'), 'internal', undefined],
  ])('%s is %s', (error, code, hint) => {
    const found = openSandboxError(error, 'Sandbox x')
    expect(found.code).toBe(code)
    expect(found.message).toMatch(/^Sandbox x: \S/)
    if (hint !== undefined) expect(found.hint).toContain(hint)
  })

  test('an error of ours stays, an aborted call is cancelled, and the reason that fetch hides is told', () => {
    const own = new WorkspaceError('timeout', 'late')
    expect(openSandboxError(own, 'x')).toBe(own)
    expect(openSandboxError(new Error('any'), 'x', { signal: AbortSignal.abort() }).code).toBe('cancelled')
    const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
    expect(openSandboxError(refused, 'The server').message).toBe('The server: fetch failed (ECONNREFUSED)')
  })

  test('only what may go better a moment later is tried again', () => {
    const passing = [answer(429, 'x'), answer(503, 'x'), new TypeError('fetch failed')]
    const lasting = [answer(401, 'x'), answer(404, 'x'), answer(409, 'x'), answer(422, 'x'), new Error('shape')]
    expect(passing.map(error => isPassing(openSandboxError(error, 'x')))).toEqual([true, true, true])
    expect(lasting.some(error => isPassing(openSandboxError(error, 'x')))).toBe(false)
  })
})

describe('opensandbox: what is asked for', () => {
  const record = newRecord(
    { id: 'ws-1', name: 'n', owner: { user: 'u', agent: '', session: '' } },
    { maker: 'm', workdir: '/workspace', image: 'i:1', ttlMs: 5 },
  )
  const request = (settings: OpenSandboxContext['settings']) => createRequest({ settings }, record)

  test('without settings: no time-out, and a main process that reaps orphans', () => {
    const made = request({})
    expect(made).toMatchObject({ image: { uri: 'i:1' }, entrypoint: [...DEFAULT_ENTRYPOINT], env: {} })
    expect(made).not.toHaveProperty('timeout')
    expect(made.metadata).toMatchObject({ 'atelier.id': 'ws-1', 'atelier.ttl-ms': '5' })
  })

  test('every setting is passed on, ours are never overwritten, and the key is not among it', () => {
    const volumes = [{ name: 'v', pvc: { claimName: 'c' }, mountPath: '/v' }]
    const egress = [{ action: 'allow' as const, target: 'pypi.org' }]
    const made = request({
      ...{ apiKey: 'secret-key', env: { A: '1' }, metadata: { team: 'blue', 'atelier.id': 'other' }, timeoutMs: 90_500 },
      ...{ resources: { cpu: '2' }, networkPolicy: { egress }, volumes, platform: { os: 'linux', arch: 'arm64' } },
      ...{ entrypoint: ['run'], imageAuth: { username: 'me', password: 'pw' }, accessToken: 't', secureAccess: true },
      ...{ extensions: { k: 'v' } },
    })
    expect(made).toMatchObject({
      ...{ env: { A: '1', EXECD_ACCESS_TOKEN: 't' }, timeout: 91, resourceLimits: { cpu: '2' }, volumes, secureAccess: true },
      ...{ networkPolicy: { defaultAction: 'deny', egress }, platform: { os: 'linux', arch: 'arm64' }, entrypoint: ['run'] },
      ...{ image: { uri: 'i:1', auth: { username: 'me', password: 'pw' } }, extensions: { k: 'v' } },
    })
    expect(made.metadata).toMatchObject({ team: 'blue', 'atelier.id': 'ws-1' })
    expect(JSON.stringify(made)).not.toContain('secret-key')
  })
})
