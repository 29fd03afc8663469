import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBackends } from '../../src/backends/registry.ts'
import type { JobInfo } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createWorkspaceDirectory, type DirectoryState } from '../../src/manager/directory.ts'
import { createPlace, FakeOpener, scope } from './fakes.ts'

let place: ReturnType<typeof createPlace>
let opener: FakeOpener

beforeEach(() => {
  place = createPlace()
  opener = new FakeOpener()
})
afterEach(() => place.remove())

function session(options: Parameters<typeof place.manager>[1] = {}) {
  const manager = place.manager(opener, options)
  const state: DirectoryState = {}
  return { manager, state, directory: createWorkspaceDirectory(manager, scope(), state) }
}

describe('create, list, use', () => {
  test('what was created last is current, and another session keeps its own', async () => {
    const { directory, manager, state } = session()
    const other = createWorkspaceDirectory(manager, scope(), {})
    const { summary, created } = await directory.create({ name: 'site' })
    expect(created).toBe(true)
    expect(summary).toMatchObject({ name: 'site', current: true, backend: 'local' })
    expect(state.current).toBe(summary.id)
    expect((await directory.list()).map(each => [each.name, each.current])).toEqual([['site', true]])
    expect((await other.list()).map(each => each.current)).toEqual([false])
  })

  test('use changes it, back to the default too, and holds nothing', async () => {
    const { directory, state, manager } = session({ ttlMs: 100 })
    await directory.create({ name: 'site' })
    const used = await directory.use('default')
    expect(used).toMatchObject({ name: 'default', current: true })
    expect(state.current).toBe(await manager.defaultId(scope()))
    expect(await directory.use('site')).toMatchObject({ name: 'site', current: true })
    await expect(directory.use('nothing')).rejects.toMatchObject({ code: 'not_found' })
    expect((await directory.status()).summary.name).toBe('site')
  })
})

describe('status', () => {
  test('of the current one makes it and tells jobs, memory, disk and limits', async () => {
    const { directory } = session()
    const { summary, use } = await directory.status()
    expect(summary).toMatchObject({ name: 'default', current: true })
    expect(use).toMatchObject({ jobsRunning: 0, memoryBytes: 1_000, limits: { graceMs: 900_000 } })
    expect(use?.diskFreeBytes).toBeGreaterThan(0)
    opener.built[0]!.running = [{ id: 'j1' } as JobInfo]
    expect((await directory.status()).use?.jobsRunning).toBe(1)
  })

  test('of one that is not open tells what is known without opening it', async () => {
    const first = session()
    await first.directory.create({ name: 'site' })
    const second = session()
    const { summary, use } = await second.directory.status('site')
    expect(summary).toMatchObject({ name: 'site', current: false })
    expect(use).toBeUndefined()
    expect(opener.builds).toBe(1)
  })
})

describe('removal', () => {
  const job = { id: 'j1', command: 'npm run dev\nsecond line', status: 'running' } as JobInfo

  test('the plan of a deletion names folder and jobs and changes nothing; the deletion makes the default current', async () => {
    const { directory, state, manager } = session()
    const { summary } = await directory.create({ name: 'site' })
    opener.built[0]!.running = [job]
    const plan = await directory.planDelete()
    expect(plan.removes).toEqual([expect.stringContaining(summary.workdir), 'running job j1: npm run dev'])
    expect(existsSync(summary.workdir)).toBe(true)
    const done = await directory.delete()
    expect(done.summary).toMatchObject({ id: summary.id, state: 'gone', current: false })
    expect(existsSync(summary.workdir)).toBe(false)
    expect(state.current).toBeUndefined()
    expect((await directory.status()).summary.id).toBe(await manager.defaultId(scope()))
  })

  test("the user's directory is refused before anything is said of removing it", async () => {
    const { directory } = session({ directory: place.project })
    await directory.status()
    for (const remove of [() => directory.planDelete(), () => directory.delete()])
      await expect(remove()).rejects.toMatchObject({ code: 'permission_denied' })
    expect(opener.built[0]?.told).toEqual([])
  })

  test('a reset says first what goes and what stays', async () => {
    const { directory } = session()
    await directory.status()
    const built = opener.built[0]!
    built.files.stat = async path => ({
      path,
      type: path.endsWith('/sessions') ? 'directory' : 'missing',
      size: 0,
      mode: 0,
      mtimeMs: 0,
    })
    built.files.list = async path => ({ path, truncated: true, entries: [{ name: 'a', type: 'file', size: 12_345, mtimeMs: 0 }] })
    const plan = await directory.planReset()
    expect(plan.removes[0]).toBe(`${built.info.root}/sessions (over 1 file, over 12.1 KB)`)
    expect(plan.keeps.join()).toContain(built.info.workdir)
    expect(built.told).toEqual([])
    expect(await directory.reset()).toEqual(plan)
    expect(built.told).toEqual(['reset'])
  })

  test('close says what was closed and leaves the current one as it was', async () => {
    const { directory } = session()
    const { summary } = await directory.create({ name: 'site' })
    const closed = await directory.close()
    expect(closed.summary).toMatchObject({ id: summary.id, state: 'suspended', current: true })
    expect((await directory.close('site')).notices.join()).toMatch(/not running/)
  })
})

describe('what can not be opened any more', () => {
  const broken = new WorkspaceError('unavailable', 'Its image was not built.')

  test('is deleted as it lies, where its backend can, and the plan says what could not be looked at', async () => {
    const removed: string[] = []
    const [local] = [...createBackends({ dataDir: place.dataDir, logger: silentLogger })]
    const removing = async () => {
      const backend = await local![1]()
      return Object.assign(backend, { remove: async ({ id }: { id: string }) => void removed.push(id) })
    }
    const { summary } = await session().directory.create({ name: 'site' })
    const later = session({ backends: new Map([['local', removing]]) })
    opener.before = () => Promise.reject(broken)
    const plan = await later.directory.planDelete('site')
    expect(plan.removes).toEqual([expect.stringMatching(/could not be looked at: Its image was not built\.$/)])
    expect(removed).toEqual([])
    const before = opener.builds
    expect(await later.directory.delete('site')).toMatchObject({ summary: { id: summary.id, state: 'gone' } })
    expect(removed).toEqual([summary.id])
    expect(opener.builds - before).toBe(1)
  })

  test('stays where its backend can not, with the reason', async () => {
    const { summary } = await session().directory.create({ name: 'site' })
    opener.before = () => Promise.reject(broken)
    await expect(session().directory.delete('site')).rejects.toBe(broken)
    expect(existsSync(summary.workdir)).toBe(true)
  })
})
