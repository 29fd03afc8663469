import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BackendName, EnvironmentInfo } from '../../src/backends/backend.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { OfferedDirectories } from '../../src/manager/offered.ts'

const scope = { user: 'u', agent: 'a', session: 's' }

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-offered-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function made(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

async function offered(names: { name?: string; directory: string }[], backend: BackendName = 'local') {
  const all = new OfferedDirectories(backend, silentLogger)
  await all.set(scope, names, 'ws-own')
  return { all, names: all.shown(scope, []).map(({ name }) => name) }
}

describe('offered directories', () => {
  it('have names that a workspace may have, each its own', async () => {
    const { names } = await offered([
      { directory: made('my app') },
      { directory: made('x/..hidden') },
      { directory: made('a'), name: 'my app' },
      { directory: made('b'), name: 'default' },
      { directory: made('c'), name: '日本' },
    ])
    expect(names).toEqual(['my-app', 'hidden', 'my-app-2', 'root-default', 'root'])
  })

  it('count once, and are directories', async () => {
    symlinkSync(made('real'), join(folder, 'link'))
    writeFileSync(join(folder, 'file'), '')
    const paths = ['real', 'link', 'file', 'missing'].map(name => ({ directory: join(folder, name) }))
    expect((await offered(paths)).names).toEqual(['real'])
  })

  it('belong to the user whose client offered them, and only while it does', async () => {
    const { all } = await offered([{ directory: made('mine') }])
    expect(all.find(scope, 'mine')?.spec).toMatchObject({ directory: join(folder, 'mine'), name: 'mine' })
    expect(all.find({ ...scope, user: 'other' }, 'mine')).toBeUndefined()
    await all.set(scope, [], 'ws-own')
    expect(all.find(scope, 'mine')).toBeUndefined()
  })

  it('give their name to a workspace that was opened there under another', async () => {
    const { all } = await offered([{ directory: made('mine') }])
    const target = all.find(scope, 'mine')
    const info = {
      id: 'ws-before',
      name: 'default',
      owner: target?.spec.owner,
      workdir: join(folder, 'mine'),
      madeByAtelier: false,
    }
    const before = { ...info, backend: 'local', state: 'running', createdAt: '', root: '/r', details: {} } as EnvironmentInfo
    expect(all.serves(before)).toBe(true)
    expect(all.shown(scope, [before])).toEqual([{ ...before, name: 'mine' }])
    expect(all.serves({ ...before, layout: 'workdir' })).toBe(false)
  })

  it('are none where the backend can not work in a directory of this host', async () => {
    expect((await offered([{ directory: made('mine') }], 'e2b')).names).toEqual([])
  })
})
