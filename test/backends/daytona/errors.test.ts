import * as sdk from '@daytonaio/sdk'
import { describe, expect, test } from 'vitest'
import { AnswerError, daytonaError, isOpen, retryAfterMs, statusOf } from '../../../src/backends/daytona/errors.ts'

const CLASSES = Object.entries(sdk).filter(([name]) => /^Daytona\w*Error$/.test(name)) as [
  string,
  new (message: string, status?: number) => Error,
][]

describe('errors of the SDK', () => {
  test.each(CLASSES)('%s has a meaning', (_, Class) => {
    const error = daytonaError(new Class('it broke.'), 'Sandbox x')
    expect(error.code).not.toBe('internal')
    expect(error.message).toBe('Sandbox x: it broke.')
  })

  test.each([
    [sdk.DaytonaAuthenticationError, 401, 'unauthenticated'],
    [sdk.DaytonaAuthorizationError, 403, 'permission_denied'],
    [sdk.DaytonaNotFoundError, 404, 'not_found'],
    [sdk.DaytonaFileNotFoundError, 404, 'not_found'],
    [sdk.DaytonaTimeoutError, 408, 'timeout'],
    [sdk.DaytonaConnectionTimeoutError, undefined, 'timeout'],
    [sdk.DaytonaConnectionError, undefined, 'unavailable'],
    [sdk.DaytonaRateLimitError, 429, 'limit_exceeded'],
    [sdk.DaytonaBadGatewayError, 502, 'unavailable'],
    [sdk.DaytonaInvalidArgumentError, undefined, 'invalid_argument'],
    [sdk.DaytonaValidationError, 400, 'invalid_argument'],
    [sdk.DaytonaGoneError, 410, 'environment_lost'],
  ])('%o with status %s is %s', (Class, status, code) => {
    const error = new Class('no', status)
    expect(daytonaError(error, 'x')).toMatchObject({ code, cause: error })
    expect(statusOf(daytonaError(error, 'x'))).toBe(status)
  })

  test.each([
    [400, 'Total CPU quota exceeded. Maximum allowed: 10.', 'limit_exceeded'],
    [403, 'Organization is suspended: depleted credits', 'limit_exceeded'],
    [500, 'write /x: no space left on device', 'no_space'],
    [409, 'state change in progress', 'unavailable'],
    [418, 'teapot', 'unavailable'],
  ])('status %s saying "%s" is %s, with a remedy', (status, words, code) => {
    expect(daytonaError(new AnswerError(words, status), 'x')).toMatchObject({ code, hint: expect.stringMatching(/.{10}/) })
  })

  test('keys, pages and line ends never stand in a message', () => {
    const error = new AnswerError('<html>\n<b>Bad key dtn_secret</b>\r\n</html>', 502)
    expect(daytonaError(error, 'x', ['dtn_secret']).message).toBe('x: Bad key ***.')
  })

  test('what may have had its effect is told from what had none', () => {
    expect(isOpen(new sdk.DaytonaConnectionError('socket hang up'))).toBe(true)
    expect(isOpen(daytonaError(new sdk.DaytonaBadGatewayError('x', 502), 'x'))).toBe(true)
    expect(isOpen(new sdk.DaytonaError('Sandbox failed to start'))).toBe(true)
    expect(isOpen(new sdk.DaytonaInvalidArgumentError('bad'))).toBe(false)
    expect(isOpen(new sdk.DaytonaConflictError('taken', 409))).toBe(false)
    expect(isOpen(new sdk.DaytonaRateLimitError('slow', 429))).toBe(false)
  })

  test('how long to wait is read in seconds and as a date', () => {
    expect(retryAfterMs(new AnswerError('x', 429, { 'retry-after': '2' }))).toBe(2_000)
    const soon = new Date(Date.now() + 60_000).toUTCString()
    expect(retryAfterMs(new AnswerError('x', 429, { 'retry-after': soon }))).toBeGreaterThan(50_000)
    expect(retryAfterMs(new AnswerError('x', 429))).toBeUndefined()
    expect(retryAfterMs(new AnswerError('x', 429, { 'retry-after': 'soon' }))).toBeUndefined()
  })
})
