import { describe, expect, test } from 'vitest'
import type { OpenSandboxSettings } from '../../../src/backends/opensandbox/settings.ts'
import { OPENSANDBOX } from '../../../src/config/backends/opensandbox.ts'

describe('opensandbox: settings', () => {
  test('every setting of the backend is one of the configuration', () => {
    const all: Required<OpenSandboxSettings> = {
      ...{ apiKey: 'k', domain: 'd:1', protocol: 'https', useServerProxy: true, headers: { a: 'b' } },
      ...{ requestTimeoutMs: 5_000, readyTimeoutMs: 60_000, timeoutMs: 600_000, ttlMs: 3_600_000 },
      ...{ image: 'i', imageAuth: { username: 'u', password: 'p' }, entrypoint: ['sh'] },
      ...{ env: { A: '1' }, metadata: { a: 'b' }, resources: { cpu: '1' }, extensions: { a: 'b' } },
      ...{ networkPolicy: { defaultAction: 'deny' }, volumes: [{ name: 'v', mountPath: '/v' }] },
      ...{ platform: { os: 'linux', arch: 'amd64' }, credentialProxy: { enabled: true } },
      ...{ secureAccess: false, accessToken: 't', workdir: '/w' },
    }
    expect(OPENSANDBOX.parse(all)).toEqual(all)
    expect(OPENSANDBOX.parse({})).toEqual({})
  })

  test.each([
    [{ apikey: 'k' }],
    [{ protocol: 'ftp' }],
    [{ timeoutMs: 60_000 }],
    [{ workdir: 'relative' }],
    [{ entrypoint: [] }],
    [{ env: { A: 1 } }],
  ])('%j is refused', settings => {
    expect(OPENSANDBOX.safeParse(settings).success).toBe(false)
  })
})
