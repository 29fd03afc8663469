import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expandArchive, readFrontmatter } from '../../../../src/workspace/skills/reader/reader.ts'
import { type Member, noise, sha256, tar, tarGz, zip } from '../../../support/archives.ts'
import { skillText } from '../place.ts'

/** The thread that reads untrusted formats, as it is built. */
let folder: string
let script: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'atelier-rd-'))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'reader', '--out', folder])
  script = join(folder, 'reader.mjs')
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const header = async (text: string) => (await readFrontmatter([text], { script }))[0]!

describe('frontmatter', () => {
  it('comes with every field, and the body after it', async () => {
    const text = '---\nname: a\ndescription: b\nmetadata:\n  version: "1"\nodd: [1, {x: y}]\n---\n\n# Body\n---\nmore\n'
    expect(await header(text)).toEqual({
      fields: { name: 'a', description: 'b', metadata: { version: '1' }, odd: [1, { x: 'y' }] },
      body: '# Body\n---\nmore\n',
      warnings: [],
    })
  })

  it('is read with a byte order mark, CRLF, and folded texts', async () => {
    const text = '\uFEFF---\r\nname: a\r\ndescription: >-\r\n  one\r\n  two\r\n---\r\nBody\r\n'
    expect(await header(text)).toMatchObject({ fields: { name: 'a', description: 'one two' }, body: 'Body\r\n' })
  })

  it('is read by a lenient eye where a colon spoils the YAML', async () => {
    const found = await header('---\nname: a\ndescription: Use when: it says "so" # really\n---\nBody\n')
    expect(found).toMatchObject({ fields: { name: 'a', description: 'Use when: it says "so" # really' } })
    expect('warnings' in found && found.warnings[0]).toMatch(/no valid YAML/)
  })

  it.each([
    ['no header', '# Title\n', 'there is no frontmatter'],
    ['an unfinished one', '---\nname: a\n', 'the frontmatter does not end'],
    ['a list', '---\n- a\n---\n', 'no valid YAML'],
    ['nothing in it', '---\n---\n', 'no valid YAML'],
    ['broken YAML', '---\nname: [a\n---\n', 'no valid YAML'],
    ['aliases that grow', `---\na: &a [x,x,x,x,x,x,x,x,x]\n${grown()}name: b\n---\n`, 'alias'],
  ])('with %s is told', async (_what, text, why) => {
    expect(await header(text)).toMatchObject({ unreadable: expect.stringContaining(why), fix: expect.any(String) })
  })

  it('of many files is read at once, one bad file hiding no other', async () => {
    const deep = `---\nname: ${'['.repeat(30_000)}\n---\n`
    const results = await readFrontmatter([skillText('a'), deep, skillText('b')], { script })
    expect(results.map(result => ('fields' in result ? result.fields.name : 'unreadable'))).toEqual(['a', 'unreadable', 'b'])
  })

  it('never fails on any text', async () => {
    const texts = fc
      .sample(fc.string({ unit: 'binary', maxLength: 200 }), 300)
      .map((text, at) => (at % 2 ? `---\n${text}\n---\n` : text))
    for (const result of await readFrontmatter(texts, { script })) expect('fields' in result || 'unreadable' in result).toBe(true)
  })
})

const GOOD: Member[] = [
  { name: 'skill/', mode: 0o040755, type: '5' },
  { name: 'skill/SKILL.md', content: skillText('skill') },
  { name: 'skill/scripts/run.sh', content: 'echo hi\n', mode: 0o104755 },
  { name: 'skill/data.bin', content: noise(300_000) },
]

async function expanded(bytes: Buffer, bounds: { maxEntries?: number; maxBytes?: number } = {}) {
  const files: [string, number, string][] = []
  for await (const file of expandArchive(bytes, { script, maxEntries: 100, maxBytes: 1_000_000, ...bounds })) {
    const parts: Uint8Array[] = []
    for await (const part of file.content) parts.push(part)
    files.push([file.path, file.mode, sha256(Buffer.concat(parts))])
  }
  return files
}

const refused = (bytes: Buffer, why: RegExp, bounds?: { maxEntries?: number; maxBytes?: number }) =>
  expect(expanded(bytes, bounds)).rejects.toMatchObject({
    code: expect.stringMatching(/invalid_argument|too_large|unsupported/),
    message: expect.stringMatching(why),
  })

describe.each([
  ['zip', zip],
  ['tar', tar],
  ['tar.gz', tarGz],
])('a %s', (_format, pack) => {
  it('gives every file, with no more than its right to be executed', async () => {
    expect(await expanded(pack(GOOD))).toEqual([
      ['skill/SKILL.md', 0o644, sha256(skillText('skill'))],
      ['skill/scripts/run.sh', 0o755, sha256('echo hi\n')],
      ['skill/data.bin', 0o644, sha256(GOOD[3]!.content as Buffer)],
    ])
  })

  it.each([
    ['../out', /leads out|relative path/],
    ['a/../../out', /leads out|relative path/],
    ['/etc/passwd', /absolute/],
    ['C:/x', /absolute/],
    ['a\\b', /backslash|invalid characters/],
    ['a\nb', /control character/],
    [`${'d/'.repeat(40)}x`, /too long/],
  ])('with the member %j is refused', (name, why) => refused(pack([{ name, content: 'x' }]), why))

  it('with links or devices is refused', async () => {
    await refused(
      pack([{ name: 'l', content: '/etc/passwd', mode: 0o120777, type: '2', linkTo: '/etc/passwd' }]),
      /link or a special/,
    )
    await refused(pack([{ name: 'd', mode: 0o060600, type: '4' }]), /link or a special/)
  })

  it('with two members in one place is refused, by case, form or kind', async () => {
    const two = (a: string, b: string) =>
      refused(
        pack([
          { name: a, content: 'x' },
          { name: b, content: 'y' },
        ]),
        /same place/,
      )
    await two('a.txt', 'a.txt')
    await two('a.txt', 'A.TXT')
    await two('caf\u00e9', 'cafe\u0301')
    await two('a', 'a/b')
    await two('Dir/a', 'dir/b')
  })

  it('is stopped at its bounds, by what really comes out', async () => {
    const bomb = pack([{ name: 'zeros', content: Buffer.alloc(3_000_000) }])
    expect(bomb.length).toBeLessThan(4_000_000)
    await refused(bomb, /more than 1000000 bytes/)
    await refused(pack(Array.from({ length: 20 }, (_, n) => ({ name: `f${n}`, content: 'x' }))), /more than 10 members/, {
      maxEntries: 10,
    })
  })

  it('that is cut off or damaged is refused', async () => {
    const whole = pack(GOOD)
    await refused(whole.subarray(0, Math.floor(whole.length / 2)), /can not be read|neither/)
    await refused(Buffer.concat([Buffer.from('PK'), noise(2_000)]), /can not be read/)
  })

  it('loses the litter of archivers', async () => {
    const litter = ['__MACOSX/._a', '.DS_Store', 'a/._b'].map(name => ({ name, content: 'x' }))
    expect(await expanded(pack([...litter, { name: 'a/b', content: 'y' }]))).toEqual([['a/b', 0o644, sha256('y')]])
  })

  it('is ended when its reader stops in the middle, and when it is cancelled', async () => {
    for await (const file of expandArchive(pack(GOOD), { script, maxEntries: 100, maxBytes: 1_000_000 })) {
      expect(file.path).toBe('skill/SKILL.md')
      break
    }
    const bounds = { script, maxEntries: 100, maxBytes: 1_000_000, signal: AbortSignal.abort() }
    await expect(expandArchive(pack(GOOD), bounds).next()).rejects.toMatchObject({ code: 'cancelled' })
  })
})

describe('archives', () => {
  it('are told by their bytes, whatever was said of them', async () => {
    const bounds = { script, maxEntries: 100, maxBytes: 1_000_000 }
    await expect(expandArchive(zip(GOOD), { ...bounds, format: 'tar' }).next()).rejects.toThrow(/is zip, not tar/)
    await refused(Buffer.from('hello'), /neither/)
  })

  it('that lie about sizes are refused', async () => {
    await refused(zip([{ name: 'a', content: Buffer.alloc(5_000), declared: 10 }]), /can not be read|more than/)
    await refused(tar([{ name: 'a', content: 'x', declared: 4_000_000 }]), /can not be read|more than/)
  })

  it('with names that fill the memory are refused', async () => {
    await refused(tarGz([{ name: 'x', type: 'x', content: Buffer.alloc(40_000_000, 0x20) }]), /can not be read/)
  })
})

/** Aliases of aliases: small in the file, large when read. */
function grown(): string {
  const level = (n: number): string =>
    `${'abcdefghij'[n]}: &${'abcdefghij'[n]} [${Array.from({ length: 9 }, () => `*${'abcdefghij'[n - 1]}`).join(',')}]\n`
  return Array.from({ length: 8 }, (_, n) => level(n + 1)).join('')
}
