import { expect, test } from 'vitest'
import { clusterError, isPassing, retryAfterMs, statusOf } from '../../../src/backends/kubernetes/errors.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'

const answer = (code: number, message: string, headers = {}) => ({
  code,
  body: JSON.stringify({ message }),
  headers,
  message: 'HTTP',
})

test.each([
  [answer(400, 'bad'), 'invalid_argument', /settings/],
  [answer(401, 'Unauthorized'), 'unauthenticated', /credentials/],
  [answer(403, 'pods is forbidden: User "x" cannot create resource "pods"'), 'permission_denied', /deploy\/rbac.yaml/],
  [answer(403, 'pods "x" is forbidden: exceeded quota: q, requested: pods=1'), 'limit_exceeded', /ResourceQuota/],
  [answer(403, 'pods "x" is forbidden: violates PodSecurity "restricted:latest"'), 'permission_denied', /securityContext/],
  [answer(403, 'maximum memory usage per Container is 1Mi, but limit is 2Mi'), 'limit_exceeded', /LimitRange/],
  [answer(403, 'unable to create new content in namespace x because it is being terminated'), 'unavailable', /another one/],
  [answer(404, 'namespaces "x" not found'), 'not_found', /create namespace/],
  [answer(404, 'pods "x" not found'), 'not_found', /./],
  [answer(409, 'exists'), 'already_exists', /./],
  [answer(422, 'invalid'), 'invalid_argument', /settings/],
  [answer(429, 'too many'), 'limit_exceeded', /Wait/],
  [answer(500, 'etcd'), 'unavailable', /./],
  [{ message: 'Unexpected server response: 403' }, 'permission_denied', /rbac/],
  [{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' }, 'unavailable', /readyz/],
  [{ code: 'ENOTFOUND', message: 'getaddrinfo' }, 'unavailable', /readyz/],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'self-signed certificate' }, 'unavailable', /certificate authority/],
  [{ code: 'ENOENT', message: 'spawnSync aws ENOENT' }, 'unauthenticated', /credentials/],
  [{ name: 'AbortError', message: 'aborted' }, 'cancelled', undefined],
])('%j becomes %s with its remedy', (thrown, code, hint) => {
  const error = clusterError(thrown, 'Pod x')
  expect([error.code, error.message.startsWith('Pod x')]).toEqual([code, true])
  if (hint === undefined) expect(error.hint).toBeUndefined()
  else expect(error.text).toMatch(hint)
})

test("the server's own words are shown, and no headers", () => {
  const raw = { code: 401, message: 'HTTP-Code: 401\nMessage: Unauthorized\nBody: undefined\nHeaders: {"audit-id":"1"}' }
  expect(clusterError(raw, 'Pod x').message).toBe('Pod x: Unauthorized.')
  const own = new WorkspaceError('timeout', 'mine')
  expect(clusterError(own, 'Pod x')).toBe(own)
})

test('what passes is told from what does not, and how long the server wants to be left alone', () => {
  expect([429, 500, 503].map(code => isPassing(answer(code, 'x')))).toEqual([true, true, true])
  expect([400, 401, 403, 404, 409, 422].map(code => isPassing(answer(code, 'x')))).toEqual(Array(6).fill(false))
  expect(isPassing(answer(403, 'error looking up service account ns/default: serviceaccount "default" not found'))).toBe(true)
  expect(isPassing({ code: 'ECONNRESET' })).toBe(true)
  expect(isPassing(new WorkspaceError('unavailable', 'x'))).toBe(false)
  expect(retryAfterMs(answer(429, 'x', { 'retry-after': '3' }))).toBe(3_000)
  expect(retryAfterMs(answer(429, 'x'))).toBeUndefined()
  expect([statusOf(answer(404, 'x')), statusOf({ code: 'ECONNRESET' }), statusOf(undefined)]).toEqual([404, undefined, undefined])
})
