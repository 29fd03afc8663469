import * as sdk from 'e2b'
import { describe, expect, test } from 'vitest'
import { e2bError, isPassing } from '../../../src/backends/e2b/errors.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'

const status = (statusCode: number, message = `${statusCode}: no`) => Object.assign(new sdk.SandboxError(message), { statusCode })
const fetchFailed = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })

describe("the SDK's errors", () => {
  test.each([
    [new sdk.SandboxNotFoundError('x'), 'environment_gone'],
    [new sdk.FileNotFoundError('x'), 'not_found'],
    [new sdk.NotFoundError('x'), 'not_found'],
    [new sdk.AuthenticationError('x'), 'unauthenticated'],
    [new sdk.RateLimitError('x'), 'limit_exceeded'],
    [new sdk.ServiceBusyError('x'), 'unavailable'],
    [new sdk.NotEnoughSpaceError('x'), 'no_space'],
    [new sdk.InvalidArgumentError('x'), 'invalid_argument'],
    [new sdk.TemplateError('x'), 'unsupported'],
    [new sdk.TimeoutError('x'), 'timeout'],
    [new DOMException('x', 'AbortError'), 'cancelled'],
    [status(400), 'invalid_argument'],
    [status(403), 'permission_denied'],
    [status(404, "404: template 'x' not found"), 'not_found'],
    [status(500), 'unavailable'],
    [status(507), 'no_space'],
    [fetchFailed, 'unavailable'],
    [new sdk.SandboxError('2: [unknown] terminated'), 'unavailable'],
    [new Error('something else'), 'internal'],
  ])('%s is %s', (error, code) => {
    const ours = e2bError(error, 'Sandbox x')
    expect(ours).toMatchObject({ code, cause: error })
    expect(ours.message).toMatch(/^Sandbox x: ./)
  })

  test('keep their reason, and lose what is advice for programmers', () => {
    expect(e2bError(fetchFailed, 'Listing').message).toBe('Listing: fetch failed (ECONNREFUSED)')
    const late = new sdk.TimeoutError(
      "[canceled] late: This error is likely due to exceeding 'requestTimeoutMs'. You can pass it.",
    )
    expect(e2bError(late, 'Sandbox x').message).toBe('Sandbox x: [canceled] late')
  })

  test('are an abort where the caller aborted, whatever the SDK says, and stay what they are where they are ours', () => {
    expect(e2bError(new sdk.TimeoutError('x'), 'Sandbox x', { signal: AbortSignal.abort() })).toMatchObject({ code: 'cancelled' })
    const ours = new WorkspaceError('no_space', 'full')
    expect(e2bError(ours, 'Sandbox x')).toBe(ours)
  })

  test('say which may go well a moment later', () => {
    expect(isPassing(e2bError(new sdk.ServiceBusyError('x'), 'x'))).toBe(true)
    expect(isPassing(e2bError(new sdk.AuthenticationError('x'), 'x'))).toBe(false)
  })
})
