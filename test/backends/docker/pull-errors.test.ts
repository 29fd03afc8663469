import type Dockerode from 'dockerode'
import { describe, expect, test } from 'vitest'
import { ensureImage } from '../../../src/backends/docker/image.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { failure } from '../support.ts'

/** An engine without images, which says `words` of each pull. */
const engineSaying = (words: string, statusCode: number): Dockerode => {
  const answer = (status: number, message: string) =>
    Promise.reject(Object.assign(new Error(`(HTTP code ${status}) server error - ${message} `), { statusCode: status }))
  return { getImage: () => ({ inspect: () => answer(404, 'no such image') }), pull: () => answer(statusCode, words) } as never
}

describe('what registries say', () => {
  test.each([
    [
      404,
      "pull access denied for x, repository does not exist or may require 'docker login': denied: requested access",
      'not_found',
    ],
    [404, 'manifest for reg/x:1 not found: manifest unknown: manifest unknown', 'not_found'],
    [500, 'Head "https://reg/v2/x/manifests/1": no basic auth credentials', 'unauthenticated'],
    [500, 'Head "https://reg/v2/x/manifests/1": unauthorized: authentication required', 'unauthenticated'],
    [500, 'Head "https://ghcr.io/v2/x/manifests/1": denied: denied', 'permission_denied'],
    [500, 'toomanyrequests: You have reached your pull rate limit.', 'limit_exceeded'],
    [500, 'Get "https://reg/v2/": dial tcp: lookup reg on 1.1.1.1:53: no such host', 'unavailable'],
    [500, 'Get "https://reg/v2/": x509: certificate signed by unknown authority', 'unavailable'],
    [500, 'Get "https://reg/v2/": http: server gave HTTP response to HTTPS client', 'unavailable'],
    [500, 'received unexpected HTTP status: 503 Service Unavailable', 'unavailable'],
    [500, 'write /var/lib/docker/tmp/x: no space left on device', 'no_space'],
  ])('%i: %s', async (status, words, code) => {
    const error = await failure(ensureImage(engineSaying(words, status), 'reg/x:1', { logger: silentLogger }))
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(words)])
    expect(error.message).toContain('reg/x:1')
    expect(error.message).not.toContain('HTTP code')
    expect(error.hint).toBeTruthy()
  })

  test('the default image is in no registry: it is to be built', async () => {
    const engine = engineSaying('Get "https://registry-1.docker.io/v2/": dial tcp: no route to host', 500)
    const error = await failure(ensureImage(engine, 'atelier-workspace:latest', { logger: silentLogger }))
    expect([error.code, error.hint]).toEqual(['not_found', expect.stringContaining('docker build')])
  })
})
