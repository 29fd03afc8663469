import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/lib/log.ts'
import { createListStore } from '../../../src/mcp/nested/list-store.ts'
import { readStartList, startListPath, writeStartList } from '../../../src/mcp/nested/start-list.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atelier-lists-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const SCOPE = { agent: '', session: '' }
const SERVERS = [{ name: 'a', expose: 'prefixed' as const, lists: { tools: [{ name: 't' }] }, initialize: { serverInfo: {} } }]

describe('kept lists', () => {
  const store = (logger = silentLogger) => createListStore(join(folder, 'lists'), logger)

  it('are there again in the next run, for the same workspace and scope only', async () => {
    const first = store()
    first.save('w', SCOPE, SERVERS)
    await first.settled()
    expect(await store().load('w', SCOPE)).toEqual(SERVERS)
    expect(await store().load('w', { agent: 'x', session: '' })).toBeUndefined()
    expect(await store().load('v', SCOPE)).toBeUndefined()
  })

  it('are the last ones, private, and without leftovers', async () => {
    const first = store()
    for (let count = 0; count < 5; count += 1) first.save('w', SCOPE, [{ name: `a${count}`, expose: 'bare', lists: {} }])
    await first.settled()
    expect(await store().load('w', SCOPE)).toMatchObject([{ name: 'a4' }])
    const files = readdirSync(join(folder, 'lists'))
    expect(files).toHaveLength(1)
    expect(statSync(join(folder, 'lists', files[0] ?? '')).mode & 0o777).toBe(0o600)
  })

  it('of a workspace that was deleted are gone, those of others stay', async () => {
    const first = store()
    const other = { agent: 'x', session: 'y' }
    for (const scope of [SCOPE, other]) for (const workspace of ['w', 'v']) first.save(workspace, scope, SERVERS)
    first.forget('w')
    await first.settled()
    expect(readdirSync(join(folder, 'lists'))).toHaveLength(2)
    expect(await store().load('w', other)).toBeUndefined()
    expect(await store().load('v', other)).toEqual(SERVERS)
    first.save('w', SCOPE, SERVERS)
    await first.settled()
    expect(await store().load('w', SCOPE)).toEqual(SERVERS)
  })

  it('that can not be read count as none, and are told of', async () => {
    const first = store()
    first.save('w', SCOPE, SERVERS)
    await first.settled()
    const path = join(folder, 'lists', readdirSync(join(folder, 'lists'))[0] ?? '')
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 20))
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) }
    expect(await store(logger).load('w', SCOPE)).toBeUndefined()
    expect(warnings).toHaveLength(1)
  })
})

describe('the list of a start', () => {
  const identity = { args: ['--directory', '/x'], cwd: '/y', env: { ATELIER_AGENT: 'a', PATH: '/bin' } }

  it('is found again by the same start', async () => {
    const path = startListPath(folder, identity)
    expect(readStartList(path)).toEqual([])
    await writeStartList(path, [{ name: 'mcp__a__t' }])
    expect(readStartList(startListPath(folder, { ...identity, env: { ...identity.env, PATH: '/other' } }))).toEqual([
      { name: 'mcp__a__t' },
    ])
  })

  it('is another one where arguments, directory or settings differ', () => {
    const paths = [
      identity,
      { ...identity, args: [] },
      { ...identity, cwd: '/z' },
      { ...identity, env: { ATELIER_AGENT: 'b' } },
    ].map(each => startListPath(folder, each))
    expect(new Set(paths).size).toBe(4)
  })

  it('that is no list counts as empty', () => {
    const path = join(folder, 'bad.json')
    writeFileSync(path, '{"tools": 7}')
    expect(readStartList(path)).toEqual([])
  })
})
