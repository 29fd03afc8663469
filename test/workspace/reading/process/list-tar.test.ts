import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { listTar } from '../../../../src/workspace/reading/process/list-tar.ts'
import { type Member, tar } from '../../../support/archives.ts'

/** A file whose blocks are fetched once each, as the reader's own are. */
class Fetched {
  readonly #content: Buffer
  readonly #blocks = new Set<number>()

  constructor(content: Buffer) {
    this.#content = content
  }

  get size(): number {
    return this.#content.length
  }

  get fetched(): number {
    return this.#blocks.size * 65_536
  }

  readInto(target: Uint8Array, position: number): number {
    const part = this.#content.subarray(position, position + target.length)
    target.set(part)
    for (let at = position; at < position + part.length; at++) this.#blocks.add(Math.floor(at / 65_536))
    return part.length
  }

  *chunks(): Generator<Buffer> {
    for (let at = 0; at < this.size; at += 65_536) yield this.#content.subarray(at, at + 65_536)
  }
}

type Limits = Partial<Parameters<typeof listTar>[1]>
const unpacked = (content: Buffer, limits: Limits = {}) =>
  listTar(new Fetched(content), { gzip: false, maxEntries: 200, maxWorkMs: 1e9, ...limits })
const packed = (content: Buffer, limits: Limits = {}) =>
  listTar(new Fetched(gzipSync(content, { level: 1 })), { gzip: true, maxEntries: 200, maxWorkMs: 1e9, ...limits })
const many = (count: number, member: Partial<Member> = {}) =>
  tar(Array.from({ length: count }, (_, index) => ({ name: `f${index}`, ...member })))
/** A header that is no member's, but says more of the next. */
const aside = { type: 'x', content: '12 comment=\n' }

describe('a tar of very many members without content', () => {
  it.each([
    ['is listed as far as its bytes are fetched', unpacked, { maxFetched: 131_072 }],
    ['is listed as far as the time allows', unpacked, { maxWorkMs: 0 }],
    ['that is packed is listed as far as it is expanded', packed, { maxExpanded: 131_072 }],
  ])('%s', async (_what, list, limits) => {
    const content = many(2_000)
    expect(await list(content)).toMatchObject({ count: 2_000, bytes: 0 })
    const cut = await list(content, limits)
    expect(cut.count).toBeUndefined()
    expect(cut.entries.length).toBeGreaterThan(0)
    const short = await list(content, { ...limits, maxEntries: 10_000 })
    expect(short.entries.length).toBeLessThan(1_000)
  })

  it.each([
    ['unpacked', unpacked, { maxFetched: 131_072 }],
    ['packed', packed, { maxExpanded: 131_072 }],
  ])('ends so too where there are none but headers that say more (%s)', async (_what, list, limits) => {
    const cut = await list(tar([{ name: 'first' }, ...Array.from({ length: 1_000 }, () => ({ name: 'x', ...aside }))]), limits)
    expect(cut.entries.map(({ path }) => path)).toEqual(['first'])
    expect(cut.count).toBeUndefined()
  })
})

describe('a tar that is not compressed', () => {
  it('is read at its headers alone', async () => {
    const content = many(5, { content: Buffer.alloc(3_000_000, 1) })
    const file = new Fetched(content)
    expect(await listTar(file, { gzip: false, maxEntries: 200, maxWorkMs: 1e9 })).toMatchObject({ count: 5, bytes: 15_000_000 })
    expect(file.fetched).toBeLessThanOrEqual(6 * 65_536)
  })

  it.each(['ustar', 'gnu', 'pax', 'posix'])('of the %s format is listed as the packed one is', async format => {
    const folder = mkdtempSync(join(tmpdir(), 'atelier-lt-'))
    try {
      const deep = join('in', 'a'.repeat(80), 'b'.repeat(60))
      mkdirSync(join(folder, deep), { recursive: true })
      writeFileSync(join(folder, deep, 'é 日.txt'), 'content')
      writeFileSync(join(folder, 'in', 'large'), Buffer.alloc(70_001))
      symlinkSync(format === 'ustar' ? 'large' : `${'to/'.repeat(50)}é`, join(folder, 'in', 'link'))
      if (format !== 'ustar') writeFileSync(join(folder, 'in', 'n'.repeat(200)), 'x')
      execFileSync('tar', ['--format', format, '--sort=name', '-cf', 'a.tar', 'in'], { cwd: folder })
      const content = readFileSync(join(folder, 'a.tar'))
      const found = await unpacked(content)
      expect({ ...found, format: 'tar.gz' }).toEqual(await packed(content))
      expect(found.entries.find(({ path }) => path === 'in/large')).toEqual({ path: 'in/large', folder: false, size: 70_001 })
      expect(found.entries.map(({ path }) => path)).toContain(join(deep, 'é 日.txt'))
      expect(found.count).toBe(format === 'ustar' ? 6 : 7)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('takes the size that a header before tells', async () => {
    const record = '16 size=0000600\n'
    const content = tar([
      { name: 'x', type: 'x', content: record },
      { name: 'a', content: Buffer.alloc(600), declared: 0 },
      { name: 'b', content: 'b' },
    ])
    const found = await unpacked(content)
    expect(found.entries.map(({ path, size }) => [path, size])).toEqual([
      ['a', 600],
      ['b', 1],
    ])
  })

  it('that is cut or broken says so', async () => {
    const content = tar([{ name: 'a', content: Buffer.alloc(5_000) }])
    await expect(unpacked(content.subarray(0, 3_000))).rejects.toThrow('ends too early')
    await expect(unpacked(content.subarray(0, 300))).rejects.toThrow('ends too early')
    const broken = Buffer.from(content)
    broken[0] = 0x62
    await expect(unpacked(broken)).rejects.toThrow('header of it is invalid')
  })
})
