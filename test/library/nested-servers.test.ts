import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalWorkspace } from '../../src/library/local-workspace.ts'
import { createPlace } from './place.ts'

const FAKE_SERVER = fileURLToPath(new URL('../support/fake-mcp-server.mjs', import.meta.url))

let place: ReturnType<typeof createPlace>
beforeAll(() => {
  place = createPlace()
}, 120_000)
afterAll(() => place?.remove())

test('a workspace takes nested servers in, lists them and lets go of them, each scope its own', async () => {
  const command = process.execPath
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in
  const web = { name: 'web', command, args: [FAKE_SERVER, '{}'], env: { TOKEN: '${FROM_HOST}' } }
  await using workspace = await new LocalWorkspace({ mcpServers: [web] }, place.read).initialize()
  expect(await workspace.listMcps()).toMatchObject([{ name: 'web', state: 'stopped', source: 'config' }])

  const added = await workspace.addMcp({ name: 'extra', command, args: [FAKE_SERVER, '{}'] }, { agent: 'alice' })
  expect(added).toMatchObject({ name: 'extra', state: 'ready', source: 'added' })
  const names = async (scope: { agent?: string }) => (await workspace.listMcps(scope)).map(({ name }) => name)
  expect(await names({ agent: 'alice' })).toEqual(['web', 'extra'])
  expect(await names({})).toEqual(['web'])

  expect(await workspace.removeMcp('web', { agent: 'alice' })).toBe(true)
  expect(await names({ agent: 'alice' })).toEqual(['extra'])
  await workspace.purgeSession({ agent: 'alice' })
  expect(await names({ agent: 'alice' })).toEqual(['web'])
  await expect(workspace.addMcp({ name: 'no', command: 'no-such-program' })).rejects.toThrow(/not on the PATH/)
  expect(await workspace.removeMcp('no')).toBe(false)
  await workspace.reset()
  expect(await names({})).toEqual(['web'])
}, 60_000)
