import { expect, test } from 'vitest'
import { BACKEND_NAMES } from '../../src/backends/backend.ts'
import { importSdk } from '../../src/backends/import-sdk.ts'
import { createBackends } from '../../src/backends/registry.ts'
import { silentLogger } from '../../src/lib/log.ts'

test('every backend has a getter; one that is here is made once, the others say that they are not there yet', async () => {
  const backends = createBackends({ dataDir: '/nowhere', logger: silentLogger })
  expect([...backends.keys()]).toEqual([...BACKEND_NAMES])
  expect(await backends.get('local')?.()).toBe(await backends.get('local')?.())
  expect(await backends.get('docker')?.()).toBe(await backends.get('docker')?.())
  await expect(backends.get('e2b')?.()).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('e2b'),
  })
})

test('a missing package says how to install it, a broken one is passed on', async () => {
  await expect(importSdk('docker', 'no-such-package-of-ours')).rejects.toMatchObject({
    code: 'unsupported',
    message: 'Backend docker needs the package "no-such-package-of-ours", which is not installed.',
  })
  const broken = new Error('inside')
  await expect(importSdk('docker', 'x', () => Promise.reject(broken))).rejects.toBe(broken)
  expect(await importSdk('local', 'node:path')).toHaveProperty('join')
})
