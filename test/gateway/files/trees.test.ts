import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyTree } from '../../../src/gateway/files/copy-tree.ts'
import { type Location, locate } from '../../../src/gateway/files/locate.ts'
import { movePath } from '../../../src/gateway/files/move.ts'
import { readTree } from '../../../src/gateway/files/tree.ts'
import { sha256 } from '../../support/archives.ts'

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-tree-')))
  mkdirSync(join(folder, 'a/deep/er'), { recursive: true })
  writeFileSync(join(folder, 'a/one.txt'), 'one')
  writeFileSync(join(folder, 'a/deep/run.sh'), 'echo\n')
  chmodSync(join(folder, 'a/deep/run.sh'), 0o4755)
  symlinkSync('/etc/passwd', join(folder, 'a/link'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (path: string): Promise<Location> => locate(path, { workdir: folder, keepLink: true })
const { signal } = new AbortController()
const BOUNDS = { maxFiles: 10, maxBytes: 1_000, signal }

describe('a tree', () => {
  it('tells all that is below, links not followed, with hashes of what is small enough', async () => {
    const { entries, truncated } = await readTree(await at('a'), { limit: 100, hashUpTo: 4 })
    expect(truncated).toBe(false)
    expect(entries.map(({ path, type, sha256: hash }) => [path, type, hash])).toEqual([
      ['deep', 'directory', undefined],
      ['link', 'symlink', undefined],
      ['one.txt', 'file', sha256('one')],
      ['deep/er', 'directory', undefined],
      ['deep/run.sh', 'file', undefined],
    ])
  })

  it('ends at its depth and its limit, and says so', async () => {
    expect((await readTree(await at('a'), { limit: 100, depth: 1 })).entries).toHaveLength(3)
    expect(await readTree(await at('a'), { limit: 2 })).toMatchObject({
      truncated: true,
      entries: [{ path: 'deep' }, { path: 'link' }],
    })
  })

  it('of nothing, or of a file, is an error', async () => {
    await expect(readTree(await at('nowhere'), { limit: 1 })).rejects.toMatchObject({ code: 'not_found' })
    await expect(readTree(await at('a/one.txt'), { limit: 1 })).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

describe('a copy', () => {
  it('has files, folders and modes, but no links and no setuid', async () => {
    expect(await copyTree(await at('a'), await at('new/b'), BOUNDS)).toMatchObject({ files: 2, bytes: 8, skipped: ['link'] })
    expect(readFileSync(join(folder, 'new/b/one.txt'), 'utf8')).toBe('one')
    expect(statSync(join(folder, 'new/b/deep/run.sh')).mode & 0o7777).toBe(0o755)
    expect(existsSync(join(folder, 'new/b/deep/er'))).toBe(true)
    expect(existsSync(join(folder, 'new/b/link'))).toBe(false)
  })

  it('leaves out the names that it is told', async () => {
    expect(await copyTree(await at('a'), await at('b'), { ...BOUNDS, exclude: ['deep', 'link'] })).toMatchObject({
      files: 1,
      skipped: [],
    })
  })

  it('is refused before it begins when it is too large, or the place is taken', async () => {
    await expect(copyTree(await at('a'), await at('b'), { ...BOUNDS, maxFiles: 1 })).rejects.toMatchObject({ code: 'too_large' })
    await expect(copyTree(await at('a'), await at('b'), { ...BOUNDS, maxBytes: 7 })).rejects.toMatchObject({ code: 'too_large' })
    expect(existsSync(join(folder, 'b'))).toBe(false)
    await expect(copyTree(await at('a'), await at('a/one.txt'), BOUNDS)).rejects.toMatchObject({ code: 'already_exists' })
  })
})

describe('a move', () => {
  const no = { replace: false }

  it('renames a folder or a link, and makes the way there', async () => {
    await movePath(await at('a/link'), await at('x/y/link'), no)
    expect(lstatSync(join(folder, 'x/y/link')).isSymbolicLink()).toBe(true)
    await movePath(await at('a'), await at('b'), no)
    expect(existsSync(join(folder, 'b/one.txt'))).toBe(true)
    expect(existsSync(join(folder, 'a'))).toBe(false)
  })

  it('never goes over a folder, and over a file only when told', async () => {
    mkdirSync(join(folder, 'empty'))
    await expect(movePath(await at('a'), await at('empty'), { replace: true })).rejects.toMatchObject({ code: 'already_exists' })
    await expect(movePath(await at('a/one.txt'), await at('a/deep/run.sh'), no)).rejects.toMatchObject({ code: 'already_exists' })
    await movePath(await at('a/one.txt'), await at('a/deep/run.sh'), { replace: true })
    expect(readFileSync(join(folder, 'a/deep/run.sh'), 'utf8')).toBe('one')
  })

  it('into itself, or of nothing, is an error', async () => {
    await expect(movePath(await at('a'), await at('a/b'), no)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(movePath(await at('nowhere'), await at('b'), no)).rejects.toMatchObject({ code: 'not_found' })
  })
})
