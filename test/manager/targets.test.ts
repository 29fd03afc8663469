import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BACKEND_NAMES } from '../../src/backends/backend.ts'
import { Targets } from '../../src/manager/targets.ts'

const SCOPE = { user: 'u', agent: 'a', session: 's' }
let directory: string

beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'at-target-')))
})
afterAll(() => rmSync(directory, { recursive: true }))

const targets = (defaultBackend: (typeof BACKEND_NAMES)[number], more: object = {}) =>
  new Targets({ defaultBackend, policy: 'per_agent', directory, ...more })

test.each(BACKEND_NAMES)(
  'a directory of this host is opened where that can be, and tells workspaces apart everywhere: %s',
  async name => {
    const { spec } = await targets(name).default(SCOPE)
    const opens = name === 'local' || name === 'docker'
    expect(spec.directory).toBe(opens ? directory : undefined)
    const other = await targets(name, { directory: tmpdir() }).default(SCOPE)
    expect(other.spec.id).not.toBe(spec.id)
    expect((await targets(name).default({ ...SCOPE, agent: 'other' })).spec.id).toBe(spec.id)
  },
)

test('a layout of a directory is refused where none is opened', async () => {
  expect((await targets('docker', { layout: 'workdir' }).default(SCOPE)).spec.layout).toBe('workdir')
  await expect(targets('e2b', { layout: 'workdir' }).default(SCOPE)).rejects.toMatchObject({
    code: 'unsupported',
    hint: expect.stringContaining('local and docker'),
  })
})
