import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Backend, EnvironmentInfo, EnvironmentSpec, OwnerFilter } from '../../../src/backends/backend.ts'
import { createLocalBackend } from '../../../src/backends/local/local.ts'
import { silentLogger } from '../../../src/lib/log.ts'

let base: string
let dataDir: string
let warnings: object[]
let backend: Backend

const owner = { user: 'alice', agent: 'coder', session: '' }
const spec: EnvironmentSpec = { id: 'ws-aaaaaaaaaaaaaaaaaaaa', name: 'default', owner }

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-local-')))
  dataDir = join(base, 'data')
  warnings = []
  backend = createLocalBackend({
    dataDir,
    runtimeBase: join(base, 'run'),
    logger: { ...silentLogger, warn: fields => void warnings.push(fields) },
  })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function listed(filter: OwnerFilter = {}): Promise<EnvironmentInfo[]> {
  const all: EnvironmentInfo[] = []
  for await (const info of backend.list(filter)) all.push(info)
  return all
}

/** Everything below a directory with its times, to see that nothing changed. */
function snapshot(directory: string): string {
  return execFileSync('find', [directory, '-printf', '%P %y %T@ %C@\n']).toString()
}

describe('a named workspace', () => {
  test('is made below the data directory and found by its id', async () => {
    const { info } = await backend.provision(spec)
    expect(info).toMatchObject({ id: spec.id, name: 'default', owner, backend: 'local', state: 'suspended', madeByAtelier: true })
    expect(info.workdir).toBe(info.root)
    expect(dirname(info.workdir)).toBe(join(dataDir, 'workspaces', 'alice'))
    expect(await backend.find(spec.id)).toEqual(info)
    expect(JSON.parse(readFileSync(join(info.root, '.atelier/owner.json'), 'utf8'))).toMatchObject({
      version: 1,
      id: spec.id,
      owner,
      workdir: info.workdir,
    })
    expect(readdirSync(join(info.root, '.atelier'))).toEqual(['owner.json'])
    expect(statSync(join(info.root, '.atelier/owner.json')).mode & 0o777).toBe(0o600)
  })

  test('keeps its creation time, its env and its files when it is provisioned again', async () => {
    const first = await backend.provision({ ...spec, env: { A: '1' } })
    writeFileSync(join(first.info.workdir, 'kept'), 'x')
    const second = await backend.provision(spec)
    expect(second.info.createdAt).toBe(first.info.createdAt)
    expect(second.info.env).toEqual({ A: '1' })
    expect(readFileSync(join(second.info.workdir, 'kept'), 'utf8')).toBe('x')
  })

  test('twenty at once agree on one owner file', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => backend.provision(spec)))
    expect(new Set(all.map(each => `${each.info.createdAt} ${each.info.workdir}`)).size).toBe(1)
    expect(await listed()).toHaveLength(1)
  })

  test.each(['../../etc', '..', 'a/b', 'Ünï', 'UPPER', 'a'.repeat(300), ''])(
    'user and name %j stay inside the data directory',
    async text => {
      const { info } = await backend.provision({ ...spec, name: text, owner: { ...owner, user: text } })
      expect(dirname(dirname(info.workdir))).toBe(join(dataDir, 'workspaces'))
      expect(await backend.find(spec.id)).toMatchObject({ name: text })
    },
  )

  test('is listed by owner', async () => {
    await backend.provision(spec)
    await backend.provision({ ...spec, id: 'ws-b', owner: { ...owner, user: 'bob' } })
    expect((await listed({ user: 'alice' })).map(info => info.id)).toEqual([spec.id])
    expect(await listed({ user: 'alice', agent: 'other' })).toEqual([])
    expect(await listed()).toHaveLength(2)
    expect(await backend.find('ws-nobody')).toBeUndefined()
  })

  test('is running while somebody answers on its socket', async () => {
    const { info } = await backend.provision(spec)
    const server = createServer().listen(info.socket)
    await new Promise(resolve => server.once('listening', resolve))
    expect((await backend.find(spec.id))?.state).toBe('running')
    await new Promise(resolve => server.close(resolve))
    expect((await backend.find(spec.id))?.state).toBe('suspended')
  })

  test('a corrupt or forged owner file is reported and skipped, the others are listed', async () => {
    const good = await backend.provision(spec)
    const bad = await backend.provision({ ...spec, id: 'ws-bad', name: 'bad' })
    const forged = await backend.provision({ ...spec, id: 'ws-forged', name: 'forged' })
    writeFileSync(join(bad.info.root, '.atelier/owner.json'), '{"version":1')
    const record = JSON.parse(readFileSync(join(forged.info.root, '.atelier/owner.json'), 'utf8'))
    writeFileSync(join(forged.info.root, '.atelier/owner.json'), JSON.stringify({ ...record, owner: { ...owner, user: 'bob' } }))
    expect((await listed()).map(info => info.id)).toEqual([good.info.id])
    expect(warnings).toHaveLength(2)
    await expect(backend.provision({ ...spec, id: 'ws-bad', name: 'bad' })).rejects.toMatchObject({ code: 'precondition_failed' })
    expect(readFileSync(join(bad.info.root, '.atelier/owner.json'), 'utf8')).toBe('{"version":1')
  })
})

describe('a directory of the user', () => {
  test('is used as it is: nothing of ours appears in it', async () => {
    const project = join(base, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'file'), 'x')
    const before = snapshot(project)
    const { info } = await backend.provision({ ...spec, directory: project })
    expect(info).toMatchObject({ workdir: project, madeByAtelier: false })
    expect(dirname(info.root)).toBe(join(dataDir, 'roots'))
    expect(basename(info.root)).toMatch(/^[0-9a-f]{16}$/)
    expect(snapshot(project)).toBe(before)
    expect(await backend.find(spec.id)).toEqual(info)
  })

  test('is one by its real path, whichever link leads there and whatever id is asked for', async () => {
    const project = join(base, 'project')
    mkdirSync(project)
    symlinkSync(project, join(base, 'link'))
    const direct = await backend.provision({ ...spec, directory: project })
    const linked = await backend.provision({ ...spec, id: 'ws-other', directory: join(base, 'link') })
    expect(linked.info).toEqual(direct.info)
  })

  test('is never destroyed', async () => {
    const project = join(base, 'project')
    mkdirSync(project)
    const environment = await backend.provision({ ...spec, directory: project })
    await expect(environment.destroy()).rejects.toMatchObject({
      code: 'permission_denied',
      message: expect.stringContaining(project),
    })
    expect(existsSync(project)).toBe(true)
    expect(existsSync(environment.info.root)).toBe(true)
  })

  test('missing, a file: the error names it, and nothing is left behind', async () => {
    writeFileSync(join(base, 'file'), '')
    await expect(backend.provision({ ...spec, directory: join(base, 'none') })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(join(base, 'none')),
    })
    await expect(backend.provision({ ...spec, directory: join(base, 'file') })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('is gone once it was removed', async () => {
    const project = join(base, 'project')
    mkdirSync(project)
    await backend.provision({ ...spec, directory: project })
    rmSync(project, { recursive: true })
    expect(await backend.find(spec.id)).toMatchObject({ state: 'gone' })
  })
})

describe('failures', () => {
  test('a runtime directory that is a link is refused, and what was made is taken back', async () => {
    mkdirSync(join(base, 'run'))
    mkdirSync(join(base, 'elsewhere'))
    symlinkSync(join(base, 'elsewhere'), join(base, 'run', `atelier-${process.getuid?.()}`))
    mkdirSync(dataDir)
    const again = createLocalBackend({ dataDir, runtimeBase: join(base, 'run'), logger: silentLogger })
    await expect(again.provision(spec)).rejects.toMatchObject({ code: 'permission_denied' })
    expect(readdirSync(join(base, 'elsewhere'))).toEqual([])
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('a data directory that is a file is refused by name', async () => {
    writeFileSync(dataDir, '')
    await expect(backend.provision(spec)).rejects.toMatchObject({
      code: 'permission_denied',
      message: expect.stringContaining(dataDir),
    })
  })

  test('an aborted call makes nothing', async () => {
    await expect(backend.provision(spec, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
    expect(existsSync(dataDir)).toBe(false)
  })
})

describe('destroy', () => {
  test('removes directory, socket folder and read-only folders inside, and follows no link', async () => {
    const environment = await backend.provision(spec)
    const { workdir, socket } = environment.info
    writeFileSync(join(base, 'outside'), 'x')
    symlinkSync(base, join(workdir, 'up'))
    mkdirSync(join(workdir, 'cache/deep'), { recursive: true })
    writeFileSync(join(workdir, 'cache/deep/file'), 'x')
    chmodSync(join(workdir, 'cache/deep'), 0o500)
    chmodSync(join(workdir, 'cache'), 0o500)
    await environment.destroy()
    expect(existsSync(workdir)).toBe(false)
    expect(existsSync(dirname(socket ?? ''))).toBe(false)
    expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('x')
    expect(readdirSync(join(dataDir, 'workspaces/alice'))).toEqual([])
    expect(await backend.find(spec.id)).toBeUndefined()
  })

  test('refuses a workdir that was replaced by a link', async () => {
    const environment = await backend.provision(spec)
    const { workdir } = environment.info
    const precious = join(base, 'precious')
    mkdirSync(precious)
    rmSync(workdir, { recursive: true })
    symlinkSync(precious, workdir)
    await expect(environment.destroy()).rejects.toMatchObject({ code: 'permission_denied' })
    expect(existsSync(precious)).toBe(true)
  })

  test('twice is no error', async () => {
    const environment = await backend.provision(spec)
    await environment.destroy()
    await expect(environment.destroy()).resolves.toBeUndefined()
  })
})

describe('the runtime directory', () => {
  test('is private, short and the same for every process', async () => {
    const { info } = await backend.provision(spec)
    const runtime = dirname(info.socket ?? '')
    expect(lstatSync(runtime).mode & 0o777).toBe(0o700)
    expect(basename(runtime)).toMatch(/^[0-9a-f]{12}$/)
    const other = createLocalBackend({ dataDir: join(dataDir, '.'), runtimeBase: join(base, 'run'), logger: silentLogger })
    expect((await other.find(spec.id))?.socket).toBe(info.socket)
  })

  test('falls back to /tmp where the path would be too long', async () => {
    const long = createLocalBackend({ dataDir, runtimeBase: join(base, 'r'.repeat(90)), logger: silentLogger })
    const { info } = await long.provision(spec)
    expect(info.socket).toMatch(/^\/tmp\/atelier-\d+\/[0-9a-f]{12}\/s$/)
    rmSync(dirname(info.socket ?? ''), { recursive: true })
  })
})

test('probe says what there is', async () => {
  const steps = await backend.probe()
  expect(steps.map(step => step.name)).toEqual(['node', 'data directory', 'shell', 'ripgrep'])
  expect(steps.slice(0, 3).every(step => step.ok)).toBe(true)
})
