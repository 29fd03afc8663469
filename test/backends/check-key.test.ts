import { expect, it } from 'vitest'
import { checkKey } from '../../src/backends/check-key.ts'
import { createE2bBackend } from '../../src/backends/e2b/e2b.ts'
import { createOpenSandboxBackend } from '../../src/backends/opensandbox/opensandbox.ts'
import { toWorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'

const BROKEN = 'e2b_0123456789secret\n'

it('takes keys as services give them, and none', () => {
  expect(() => checkKey('e2b', 'e2b_0123-abc.DEF=')).not.toThrow()
  expect(() => checkKey('e2b', undefined)).not.toThrow()
})

it.each([
  ['e2b', createE2bBackend({ apiKey: BROKEN, logger: silentLogger })],
  ['opensandbox', createOpenSandboxBackend({ apiKey: BROKEN, logger: silentLogger })],
])('%s refuses a key with a line break, and does not show it', async (_, backend) => {
  const error = toWorkspaceError(await backend.find('ws-aaaaaaaaaaaaaaaaaaaa').catch(thrown => thrown))
  expect(error.code).toBe('unauthenticated')
  expect(error.text).not.toContain('secret')
})
