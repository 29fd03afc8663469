import { readFile, symlink, writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failure, fileBench } from './harness.ts'

/** A bench with one file that the session has read. */
async function editing(content: string | Buffer) {
  const bench = await fileBench()
  await writeFile(bench.at('a'), content)
  await bench.read('a')
  return {
    ...bench,
    text: () => readFile(bench.at('a'), 'utf8'),
    change: (from: string, to: string, replaceAll = false) => bench.edit('a', from, to, { replaceAll }),
  }
}

describe('replacing', () => {
  it('changes one place and shows it', async () => {
    const { change, text, at } = await editing('1\n2\n3\n4\n5\n6\n7\n8\n9\n')
    expect(await change('5', 'five\nfive and a half')).toEqual({
      path: at('a'),
      replacements: 1,
      excerpt: ['2', '3', '4', 'five', 'five and a half', '6', '7', '8'].map((line, i) => ({ line: i + 2, text: line })),
      created: false,
      notices: [],
    })
    expect(await text()).toBe('1\n2\n3\n4\nfive\nfive and a half\n6\n7\n8\n9\n')
  })

  it('shows the first and the last line of a file', async () => {
    const { change } = await editing('1\n2\n3')
    expect((await change('1', 'one')).excerpt.map(line => line.text)).toEqual(['one', '2', '3'])
    expect((await change('3', 'three')).excerpt[0]).toEqual({ line: 1, text: 'one' })
    expect((await change('one\n', '')).excerpt[0]).toEqual({ line: 1, text: '2' })
  })

  it('takes patterns of String.replace literally', async () => {
    const { change, text } = await editing('price')
    await change('price', "$& $1 $$ $` $'")
    expect(await text()).toBe("$& $1 $$ $` $'")
  })

  it('replaces all, none overlapping', async () => {
    const { change, text } = await editing('aaaa b aa')
    expect(await change('aa', 'x', true)).toMatchObject({ replacements: 3 })
    expect(await text()).toBe('xx b x')
  })

  it('keeps the tail of a 150 KB file that grows', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i} of the file, 30 long`)
    const { change, text } = await editing(lines.join('\n'))
    await change('line 2 of', `line 2 ${'x'.repeat(50_000)} of`)
    expect(await text()).toBe(lines.join('\n').replace('line 2 of', `line 2 ${'x'.repeat(50_000)} of`))
  })

  it('writes through a link', async () => {
    const { edit, read, at, text } = await editing('old')
    await symlink('a', at('link'))
    await read('link')
    await edit('link', 'old', 'new')
    expect(await text()).toBe('new')
  })
})

describe('ends of lines and encodings', () => {
  it('matches LF text in a CRLF file and keeps CRLF', async () => {
    const { change, text } = await editing('a\r\nb\r\nc\r\n')
    await change('a\nb', 'a\nx\ny\nb')
    expect(await text()).toBe('a\r\nx\r\ny\r\nb\r\nc\r\n')
    await change('x\r\ny\r\n', 'z\r\n')
    expect(await text()).toBe('a\r\nz\r\nb\r\nc\r\n')
  })

  it('keeps each line’s own end in a mixed file', async () => {
    const { change, text } = await editing('a\nb\r\nc\nd\r\ne')
    await change('b\nc', 'B\nC')
    expect(await text()).toBe('a\nB\r\nC\nd\r\ne')
    await change('C\nd', 'C\nnew\nd')
    expect(await text()).toBe('a\nB\r\nC\nnew\nd\r\ne')
    await change('d\n', 'd\nlast\n')
    expect(await text()).toBe('a\nB\r\nC\nnew\nd\r\nlast\r\ne')
  })

  it('knows files with lone carriage returns', async () => {
    const { change, text } = await editing('a\rb\rc')
    await change('a\nb', 'a\nx')
    expect(await text()).toBe('a\rx\rc')
  })

  it('leaves all untouched bytes alone, for any mix of ends', async () => {
    const part = fc.constantFrom('x', 'é', '\n', '\r\n', '\r', 'yy')
    const mixed = fc.array(part, { maxLength: 30 }).map(parts => parts.join(''))
    const bench = await fileBench()
    await fc.assert(
      fc.asyncProperty(mixed, mixed, fc.constantFrom('', 'new', 'n\nm'), async (before, after, replacement) => {
        const middle = 'OLD\nTEXT'
        await writeFile(bench.at('a'), `${before}|${middle}|${after}`)
        await bench.read('a')
        await bench.edit('a', middle, replacement)
        const result = await readFile(bench.at('a'), 'utf8')
        expect(result.startsWith(`${before}|`)).toBe(true)
        expect(result.endsWith(`|${after}`)).toBe(true)
        const inner = result.slice(before.length + 1, result.length - after.length - 1)
        expect(inner.replaceAll('\r\n', '\n')).toBe(replacement)
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['a byte order mark', Buffer.from('\ufeffold é'), Buffer.from('\ufeffnew é')],
    ['UTF-16LE', Buffer.from('\ufeffold é', 'utf16le'), Buffer.from('\ufeffnew é', 'utf16le')],
    ['UTF-16BE', Buffer.from('\ufeffold é', 'utf16le').swap16(), Buffer.from('\ufeffnew é', 'utf16le').swap16()],
    ['latin1', Buffer.from('old é', 'latin1'), Buffer.from('new é', 'latin1')],
  ])('keeps %s', async (_name, before, after) => {
    const { change, at } = await editing(before)
    await change('old é', 'new é')
    expect(await readFile(at('a'))).toEqual(after)
  })

  it('refuses what the encoding cannot hold, and binary files', async () => {
    const latin = await editing(Buffer.from('old é', 'latin1'))
    expect((await failure(latin.change('old', '≤'))).message).toContain('latin1')
    const binary = await editing(Buffer.from([1, 0, 2, 65, 66]))
    expect((await failure(binary.change('AB', 'CD'))).code).toBe('unsupported')
  })
})

describe('what does not match', () => {
  it('names count and lines of several places', async () => {
    const { change, text } = await editing('x\ny\nx\n\nx\n')
    const error = await failure(change('x', 'z'))
    expect(error.code).toBe('invalid_argument')
    expect(error.message).toContain('3 times')
    expect(error.message).toContain('1, 3, 5')
    expect(await text()).toBe('x\ny\nx\n\nx\n')
  })

  it.each([
    ['\tif (a) {\n\t\tb()\n\t}', '  if (a) {\n    b()\n  }', 'indentation'],
    ['say “hello”', 'say "hello"', 'typographic'],
    ['Hello World', 'hello world', 'case'],
    ['a = 1;   \nb = 2;', 'a = 1;\nb = 2;', 'whitespace at the end'],
    ['const  x   = 1', 'const x = 1', 'whitespace'],
  ])('says how %j differs from %j', async (content, wanted, why) => {
    const { change } = await editing(`first\n${content}\nlast\n`)
    const error = await failure(change(wanted, 'new'))
    expect(error.message).toContain('does not occur')
    expect(error.message).toContain(why)
    expect(error.message).toMatch(/lines? 2/)
    expect(error.message).toContain(content.split('\n')[0]!)
  })

  it('shows the most similar place', async () => {
    const { change } = await editing('one\nfunction add(a, b) {\n  return a + b\n}\n')
    const error = await failure(change('function add(a, c) {', 'x'))
    expect(error.message).toContain('line 2')
    expect((await failure(change('zzzzzzzzzzzz', 'x'))).message).not.toContain('nearest')
  })

  it('refuses equal texts, unread and changed files', async () => {
    const { change, edit, at } = await editing('old')
    expect((await failure(change('old', 'old'))).code).toBe('invalid_argument')
    await writeFile(at('b'), 'old')
    expect((await failure(edit('b', 'old', 'new'))).message).toContain('not been read')
    await writeFile(at('a'), 'old but changed')
    expect((await failure(change('old', 'new'))).message).toContain('changed since')
    expect((await failure(edit('missing', 'a', 'b'))).code).toBe('not_found')
  })

  it('makes a file with an empty old text, never over content', async () => {
    const { change, edit, at, text } = await editing('old')
    expect(await edit('new/file', '', 'x\n')).toMatchObject({ created: true, excerpt: [{ line: 1, text: 'x' }] })
    expect(await readFile(at('new/file'), 'utf8')).toBe('x\n')
    expect((await failure(change('', 'x'))).code).toBe('already_exists')
    expect(await text()).toBe('old')
  })
})

describe('at the same time', () => {
  it('lands all of 20 edits of a session', async () => {
    const marks = Array.from({ length: 20 }, (_, i) => `<${i}>`)
    const { change, edit, at, text } = await editing(marks.join('\n'))
    await symlink('a', at('alias'))
    await Promise.all(marks.map((mark, i) => (i % 2 ? change(mark, `done ${i}`) : edit('alias', mark, `done ${i}`))))
    expect(await text()).toBe(marks.map((_, i) => `done ${i}`).join('\n'))
  })

  it('lets only one of two sessions that saw the same version change it', async () => {
    const { edit, read, text } = await editing('a b')
    await read('a', { session: 'two' })
    const results = await Promise.allSettled([edit('a', 'a', 'A'), edit('a', 'b', 'B', { session: 'two' })])
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected'])
    expect(await text()).toBe('A b')
  })
})
