import { execFile } from 'node:child_process'
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BackendName } from '../../src/backends/backend.ts'
import { createBackends } from '../../src/backends/registry.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import { createPlace, FakeOpener, gate, scope } from './fakes.ts'

let place: ReturnType<typeof createPlace>
let opener: FakeOpener

beforeEach(() => {
  place = createPlace()
  opener = new FakeOpener()
})
afterEach(() => place.remove())

async function failure(promise: Promise<unknown>): Promise<WorkspaceError> {
  const error = await promise.then(
    () => undefined,
    reason => reason,
  )
  expect(error).toBeInstanceOf(WorkspaceError)
  return error
}

describe('acquire', () => {
  test('gives the default workspace of the scope, with the environment of the host and of the configuration', async () => {
    const manager = place.manager(opener)
    using lease = await manager.acquire(scope())
    expect(lease.workspace.id).toBe(await manager.defaultId(scope()))
    expect(lease.workspace.info).toMatchObject({ name: 'default', madeByAtelier: true })
    expect(opener.built[0]?.options).toMatchObject({ env: { HOST: '1', BOTH: 'configured' }, goodbye: 'end' })
    expect(manager.opened(lease.workspace.id)).toBe(lease.workspace)
  })

  test('refuses a scope that could not be written down, in every call', async () => {
    const manager = place.manager(opener)
    const bad = scope('alice', 'a\nb')
    for (const call of [manager.acquire(bad), manager.create(bad, {}), manager.list(bad), manager.find(bad, 'x')]) {
      expect((await failure(call)).code).toBe('invalid_argument')
    }
    expect(opener.builds).toBe(0)
  })

  test('many at once share one build; other ids are not held up', async () => {
    const manager = place.manager(opener)
    const slow = gate()
    opener.before = spec => (spec.owner.agent === 'slow' ? slow.opened : Promise.resolve())
    const waiting = Array.from({ length: 50 }, () => manager.acquire(scope('alice', 'slow')))
    using other = await manager.acquire(scope('alice', 'quick'))
    expect(other.workspace.info.owner.agent).toBe('quick')
    slow.open()
    const leases = await Promise.all(waiting)
    expect(opener.builds).toBe(2)
    expect(new Set(leases.map(lease => lease.workspace)).size).toBe(1)
    for (const lease of leases) lease.release()
  })

  test('all who wait hear how it goes, and that it goes on, until it is made', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    try {
      const manager = place.manager(opener)
      const slow = gate()
      let tell: ((sentence: string) => void) | undefined
      opener.before = (_spec, options) => {
        tell = options.onProgress
        return slow.opened
      }
      const heard: string[][] = [[], []]
      const waiting = heard.map(mine => manager.acquire(scope(), { onProgress: sentence => mine.push(sentence) }))
      await vi.waitUntil(() => tell !== undefined)
      tell?.('Image x is pulled.')
      vi.advanceTimersByTime(20_000)
      slow.open()
      for (const lease of await Promise.all(waiting)) lease.release()
      tell?.('too late')
      vi.advanceTimersByTime(60_000)
      for (const mine of heard) {
        expect(mine).toEqual(['Image x is pulled.', expect.stringMatching(/10 s/), expect.stringMatching(/20 s/)])
      }
    } finally {
      vi.useRealTimers()
    }
  })

  test('a failed build is told to all who wait, and not kept', async () => {
    const manager = place.manager(opener)
    opener.before = async () => {
      throw new WorkspaceError('unavailable', 'engine away')
    }
    const errors = await Promise.all([failure(manager.acquire(scope())), failure(manager.acquire(scope()))])
    expect(errors.map(error => error.message)).toEqual(['engine away', 'engine away'])
    expect(opener.builds).toBe(1)
    opener.before = async () => {}
    using lease = await manager.acquire(scope())
    expect(lease.workspace.id).toBeTruthy()
  })

  test('who gives up waiting does not take the build from the others', async () => {
    const manager = place.manager(opener)
    const slow = gate()
    opener.before = () => slow.opened
    const controller = new AbortController()
    const first = failure(manager.acquire(scope(), { signal: controller.signal }))
    const second = manager.acquire(scope())
    controller.abort()
    expect((await first).code).toBe('cancelled')
    slow.open()
    using lease = await second
    expect(opener.builds).toBe(1)
    expect(lease.workspace.info.name).toBe('default')
  })

  test('an empty reference is none, and no key of a cache', async () => {
    const manager = place.manager(opener)
    using alice = await manager.acquire(scope('alice'), { ref: '' })
    using bob = await manager.acquire(scope('bob'), { ref: '' })
    expect(alice.workspace.id).not.toBe(bob.workspace.id)
    expect(alice.workspace.info.workdir).not.toBe(bob.workspace.info.workdir)
  })

  test.each(['../x', '..', 'a/b', '/etc', ' '])('%j is refused as a reference', async ref => {
    const manager = place.manager(opener)
    expect((await failure(manager.acquire(scope(), { ref }))).code).toBe('invalid_argument')
    expect(existsSync(place.dataDir)).toBe(false)
  })

  test('after disposal nothing is opened', async () => {
    const manager = place.manager(opener)
    await manager[Symbol.asyncDispose]()
    expect((await failure(manager.acquire(scope()))).code).toBe('unavailable')
  })
})

describe('policies', () => {
  test.each([
    ['per_user', 1],
    ['per_agent', 2],
    ['per_session', 3],
  ] as const)('%s gives %i workspaces to two agents with three sessions', async (policy, count) => {
    const manager = place.manager(opener, { policy })
    const scopes = [scope('u', 'a', '1'), scope('u', 'a', '2'), scope('u', 'b', '1')]
    const leases = await Promise.all(scopes.map(each => manager.acquire(each)))
    expect(new Set(leases.map(lease => lease.workspace.id)).size).toBe(count)
    expect(new Set(leases.map(lease => lease.workspace.info.workdir)).size).toBe(count)
    for (const lease of leases) lease.release()
  })

  test('two users with the same agent never share a directory', async () => {
    const manager = place.manager(opener)
    using a = await manager.acquire(scope('a::b', 'c'))
    using b = await manager.acquire(scope('a', 'b::c'))
    expect(a.workspace.info.workdir).not.toBe(b.workspace.info.workdir)
  })

  test('a second user of local is refused unless the operator allows it', async () => {
    const manager = place.manager(opener, { allowSharedLocal: false })
    using _alice = await manager.acquire(scope('alice'))
    expect((await failure(manager.acquire(scope('bob')))).code).toBe('permission_denied')
    using again = await manager.acquire(scope('alice', 'other'))
    expect(again.workspace.info.owner.user).toBe('alice')
  })

  test('where several users are known none of them gets local', async () => {
    const manager = place.manager(opener, { allowSharedLocal: false, severalUsers: true })
    const { code, message } = await failure(manager.acquire(scope('alice')))
    expect({ code, message }).toEqual({ code: 'permission_denied', message: expect.stringContaining('several users') })
    const allowed = place.manager(opener, { allowSharedLocal: true, severalUsers: true })
    using mine = await allowed.acquire(scope('alice'))
    expect(mine.workspace.info.owner.user).toBe('alice')
  })
})

describe('named workspaces', () => {
  test('create makes, then attaches; without a name it always makes a new one', async () => {
    const manager = place.manager(opener)
    const first = await manager.create(scope(), { name: 'site', env: { MODE: 'x' } })
    const second = await manager.create(scope(), { name: 'site' })
    expect([first.created, second.created]).toEqual([true, false])
    expect(second.lease.workspace).toBe(first.lease.workspace)
    expect(opener.built[0]?.options.env).toMatchObject({ MODE: 'x' })
    const nameless = await Promise.all([manager.create(scope(), {}), manager.create(scope(), { name: '' })])
    expect(new Set(nameless.map(each => each.lease.workspace.id)).size).toBe(2)
    for (const { lease } of [first, second, ...nameless]) lease.release()
  })

  test('the env that one was made with is there after a restart; another one is refused', async () => {
    const before = place.manager(opener)
    const { lease } = await before.create(scope(), { name: 'site', env: { MODE: 'x' } })
    lease.release()
    await before[Symbol.asyncDispose]()
    const after = place.manager(opener)
    using again = await after.acquire(scope(), { ref: 'site' })
    expect(again.workspace.id).toBe(lease.workspace.id)
    expect(opener.built[1]?.options.env).toMatchObject({ MODE: 'x' })
    expect((await failure(after.create(scope(), { name: 'site', env: { MODE: 'y' } }))).code).toBe('already_exists')
  })

  test('are found by id and name, by their owner alone', async () => {
    const manager = place.manager(opener)
    const { lease } = await manager.create(scope('alice', 'a'), { name: 'secret' })
    lease.release()
    const { id } = lease.workspace
    using found = await manager.acquire(scope('alice', 'a', 's2'), { ref: id })
    expect(found.workspace.id).toBe(id)
    for (const other of [scope('bob', 'a'), scope('alice', 'b')]) {
      const [byId, byName] = [
        await failure(manager.acquire(other, { ref: id })),
        await failure(manager.acquire(other, { ref: 'secret' })),
      ]
      const [noId, noName] = [
        await failure(manager.find(other, 'ws-aaaaaaaaaaaaaaaaaaaa')),
        await failure(manager.find(other, 'nothing')),
      ]
      expect(byId.text.replace(id, '#')).toBe(noId.text.replace('ws-aaaaaaaaaaaaaaaaaaaa', '#'))
      expect(byName.text.replace('secret', '#')).toBe(noName.text.replace('nothing', '#'))
      expect([byId.code, byName.code]).toEqual(['not_found', 'not_found'])
      expect((await failure(manager.destroy(other, id))).code).toBe('not_found')
      expect((await failure(manager.close(other, id))).code).toBe('not_found')
      expect(await manager.list(other)).toEqual([])
    }
  })

  test('one made under another policy is still found by its name', async () => {
    const before = place.manager(opener, { policy: 'per_agent' })
    const { lease } = await before.create(scope('alice', 'a'), { name: 'site' })
    lease.release()
    const after = place.manager(opener, { policy: 'per_user' })
    using found = await after.acquire(scope('alice', 'b'), { ref: 'site' })
    expect(found.workspace.id).toBe(lease.workspace.id)
  })

  test.each([
    [{ name: '../x' }, 'invalid_argument'],
    [{ name: 'a', image: 'debian' }, 'invalid_argument'],
    [{ name: 'a', profile: 'host' }, 'invalid_argument'],
    [{ name: 'a', env: { 'A=B': '1' } }, 'invalid_argument'],
    [{ name: 'default', env: { A: '1' } }, 'invalid_argument'],
    [{ name: 'a', backend: 'e2b' as const }, 'unsupported'],
  ])('%j is refused', async (request, code) => {
    const manager = place.manager(opener)
    expect((await failure(manager.create(scope(), request))).code).toBe(code)
    expect(opener.builds).toBe(0)
  })
})

describe('the directory of the user', () => {
  test('is the default workspace of all scopes of that user, whatever the policy', async () => {
    symlinkSync(place.project, join(place.base, 'link'))
    const manager = place.manager(opener, { policy: 'per_session', directory: join(place.base, 'link') })
    using a = await manager.acquire(scope('alice', 'a', '1'))
    using b = await manager.acquire(scope('alice', 'b', '2'), { ref: 'default' })
    expect(a.workspace).toBe(b.workspace)
    expect(a.workspace.info).toMatchObject({ workdir: place.project, madeByAtelier: false, name: 'default' })
    expect(readdirSync(place.project)).toEqual([])
    expect((await manager.list(scope('alice', 'c'))).map(info => info.workdir)).toEqual([place.project])
  })

  test('is not deleted, and shown only by the server that was started for it', async () => {
    const manager = place.manager(opener, { directory: place.project })
    using lease = await manager.acquire(scope())
    const error = await failure(manager.destroy(scope(), 'default'))
    expect(error.code).toBe('permission_denied')
    expect(error.message).toContain(place.project)
    const elsewhere = place.manager(opener)
    expect(await elsewhere.list(scope())).toEqual([])
    expect((await failure(elsewhere.find(scope(), lease.workspace.id))).code).toBe('not_found')
  })

  test('missing: the error names it, and it may be made later', async () => {
    const manager = place.manager(opener, { directory: join(place.base, 'later') })
    const error = await failure(manager.acquire(scope()))
    expect([error.code, error.message]).toEqual(['not_found', expect.stringContaining(join(place.base, 'later'))])
    symlinkSync(place.project, join(place.base, 'later'))
    using lease = await manager.acquire(scope())
    expect(lease.workspace.info.workdir).toBe(place.project)
  })
})

describe('close and destroy', () => {
  test('close ends an open workspace; its data stays, and the next call opens it again', async () => {
    const manager = place.manager(opener)
    const lease = await manager.acquire(scope())
    lease.release()
    const { info } = await manager.close(scope(), 'default')
    expect(opener.built[0]?.told).toEqual(['close'])
    expect(info.state).toBe('suspended')
    expect(manager.opened(info.id)).toBeUndefined()
    using again = await manager.acquire(scope())
    expect(again.workspace).not.toBe(lease.workspace)
    expect((await manager.close(scope(), 'default')).notices).toEqual([])
  })

  test('closing what is not running says so and opens nothing', async () => {
    place.manager(opener)
    const first = place.manager(opener)
    ;(await first.acquire(scope())).release()
    await first[Symbol.asyncDispose]()
    const { notices } = await place.manager(opener).close(scope(), 'default')
    expect(notices.join()).toMatch(/not running/)
    expect(opener.builds).toBe(1)
  })

  test('destroy takes the data, also of one that this process had not opened', async () => {
    const other = place.manager(opener)
    const { lease } = await other.create(scope(), { name: 'site' })
    lease.release()
    const manager = place.manager(opener)
    expect(await manager.destroy(scope(), 'site')).toMatchObject({ id: lease.workspace.id, state: 'gone' })
    expect(existsSync(lease.workspace.info.workdir)).toBe(false)
    expect((await failure(manager.find(scope(), 'site'))).code).toBe('not_found')
    expect(place.destroyed).toEqual([lease.workspace.id])
  })

  test('an open workspace that was removed behind our back can still be closed', async () => {
    const manager = place.manager(opener)
    const lease = await manager.acquire(scope())
    lease.release()
    rmSync(lease.workspace.info.workdir, { recursive: true })
    expect(await manager.find(scope(), 'default')).toMatchObject({ state: 'gone' })
    expect((await manager.close(scope(), lease.workspace.id)).info.state).toBe('gone')
    expect(opener.built[0]?.told).toEqual(['close'])
    expect((await failure(manager.find(scope('bob'), lease.workspace.id))).code).toBe('not_found')
  })

  test('who comes while a workspace is being closed gets a new one', async () => {
    const manager = place.manager(opener)
    ;(await manager.acquire(scope())).release()
    const [slow, begun] = [gate(), gate()]
    opener.goodbye = () => {
      begun.open()
      return slow.opened
    }
    const closing = manager.close(scope(), 'default')
    await begun.opened
    const next = manager.acquire(scope())
    slow.open()
    await closing
    using lease = await next
    expect(lease.workspace).toBe(opener.built[1])
  })
})

describe('disposal', () => {
  test('says goodbye to all at once, within a bound', async () => {
    const manager = place.manager(opener)
    for (const agent of ['a', 'b', 'c']) (await manager.acquire(scope('u', agent))).release()
    let arrived = 0
    const together = gate()
    opener.goodbye = async () => {
      if (++arrived === 3) together.open()
      await together.opened
    }
    await manager[Symbol.asyncDispose]()
    expect(opener.built.map(each => each.told)).toEqual([['detach'], ['detach'], ['detach']])
    const stuck = place.manager(opener)
    ;(await stuck.acquire(scope())).release()
    opener.goodbye = () => new Promise(() => {})
    const started = Date.now()
    await stuck[Symbol.asyncDispose]()
    expect(Date.now() - started).toBeLessThan(10_000)
  })
})

test('this host is closed to calls where the operator chose another place, and opened by allowLocal alone', async () => {
  const { lease, created } = await place.manager(opener).create(scope('alice', 'a'), { name: 'on-the-host' })
  lease.release()
  expect(created).toBe(true)
  const elsewhere = place.manager(opener, { defaultBackend: 'docker' })
  const id = lease.workspace.id
  await expect(elsewhere.create(scope('alice', 'a'), { name: 'new', backend: 'local' })).rejects.toMatchObject({
    code: 'permission_denied',
    message: 'The backend local is the host itself, and is not open to calls here.',
  })
  await expect(elsewhere.acquire(scope('alice', 'a'), { ref: id })).rejects.toThrow()
  const opened = place.manager(opener, { defaultBackend: 'docker', allowLocal: true })
  const again = await opened.create(scope('alice', 'a'), { name: 'on-the-host', backend: 'local' })
  again.lease.release()
  expect([again.created, again.lease.workspace.id]).toEqual([false, id])
})

test('the limits of this host alone hold on local, whatever the default backend is', async () => {
  const local = createBackends({ dataDir: place.dataDir, runtimeBase: `${place.base}/run`, logger: silentLogger }).get('local')!
  const backends = new Map<BackendName, typeof local>([
    ['local', local],
    ['docker', local],
  ])
  for (const defaultBackend of ['local', 'docker'] as const) {
    const manager = place.manager(opener, { backends, defaultBackend, allowLocal: true, localLimits: { graceMs: 30_000 } })
    for (const [backend, graceMs] of [['local', 30_000] as const, ['docker', 900_000] as const]) {
      const { lease } = await manager.create(scope('alice', defaultBackend), { name: backend, backend })
      lease.release()
      expect(opener.built.at(-1)?.options.limits).toEqual({ ...DEFAULT_LIMITS, graceMs })
      expect(manager.limitsOn?.(backend).graceMs).toBe(graceMs)
    }
  }
})

test('another process computes the same ids and finds the workspaces of this one', async () => {
  const manager = place.manager(opener)
  const { lease } = await manager.create(scope('alice', 'a'), { name: 'site' })
  lease.release()
  const program = `
    import { createBackends } from './src/backends/registry.ts'
    import { silentLogger as logger } from './src/lib/log.ts'
    import { createManager } from './src/manager/manager.ts'
    const [dataDir, runtimeBase] = process.argv.slice(2)
    const backends = createBackends({ dataDir, runtimeBase, logger })
    const manager = createManager({ backends, defaultBackend: 'local', policy: 'per_agent', limits: {}, hostEnv: {}, env: {}, confine: 'none', goodbye: 'end', ttlMs: 1e6, allowSharedLocal: true, logger })
    const scope = { user: 'alice', agent: 'a', session: '' }
    process.stdout.write(JSON.stringify({ found: await manager.find(scope, 'site'), id: await manager.defaultId(scope) }))`
  const outfile = join(place.base, 'other.mjs')
  await build({
    stdin: { contents: program, resolveDir: process.cwd(), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire as cr } from 'node:module'; const require = cr(import.meta.url);" },
    external: ['dockerode'],
  })
  const { stdout } = await promisify(execFile)(process.execPath, [outfile, place.dataDir, join(place.base, 'run')])
  const answer = JSON.parse(stdout)
  expect(answer.found).toEqual(await manager.find(scope('alice', 'a'), 'site'))
  expect(answer.id).toBe(await manager.defaultId(scope('alice', 'a')))
})
