import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { failure, installedRipgrep, searchBench } from './harness.ts'

const rg = await installedRipgrep()
const engines = [
  ...(rg === null ? [] : [{ engine: 'ripgrep' as const, ripgrep: rg }]),
  { engine: 'builtin' as const, ripgrep: null },
]

describe.each(engines)('grep by $engine', ({ engine, ripgrep }) => {
  const bench = (files: Record<string, string | Uint8Array>) => searchBench(files, { ripgrep })

  it('gives matching lines with path and number', async () => {
    const { grep, workdir } = await bench({ 'a.txt': 'one\ntwo foo\n', 'd/b.txt': 'foo\r\nbar\n' })
    const result = await grep('foo')
    expect(result).toMatchObject({ path: workdir, mode: 'content', truncated: false, engine, notices: [] })
    expect(result.lines).toEqual([
      { path: 'a.txt', line: 2, text: 'two foo', kind: 'match' },
      { path: 'd/b.txt', line: 1, text: 'foo', kind: 'match' },
    ])
  })

  it('gives context with gaps', async () => {
    const { grep } = await bench({ a: '1\nfoo\n3\n4\n5\n6\nfoo\n8\n', b: 'foo\n' })
    const { lines } = await grep('foo', { before: 1, after: 1 })
    expect(lines.map(line => (line.kind === 'gap' ? '--' : `${line.path}${line.line}${line.kind[0]}`))).toEqual([
      'a1c',
      'a2m',
      'a3c',
      '--',
      'a6c',
      'a7m',
      'a8c',
      '--',
      'b1m',
    ])
  })

  it('pages lines in a stable order', async () => {
    const { grep } = await bench({ a: 'x1\nx2\nx3\n', b: 'x4\nx5\n' })
    const page = async (offset: number, limit: number) => {
      const result = await grep('x', { offset, limit })
      return [result.lines.map(line => line.text).join(' '), result.truncated]
    }
    expect(await page(0, 2)).toEqual(['x1 x2', true])
    expect(await page(2, 2)).toEqual(['x3 x4', true])
    expect(await page(4, 2)).toEqual(['x5', false])
    expect(await page(9, 2)).toEqual(['', false])
  })

  it('gives files newest first, and counts with totals', async () => {
    const { grep, at } = await bench({ old: 'foo\n', new: 'foo\nfoo foo\n', other: 'bar\n' })
    await utimes(at('old'), 1000, 1000)
    expect(await grep('foo', { mode: 'files_with_matches' })).toMatchObject({ files: ['new', 'old'], totals: { files: 2 } })
    expect(await grep('foo', { mode: 'files_with_matches', limit: 1 })).toMatchObject({ files: ['new'], truncated: true })
    expect(await grep('foo', { mode: 'count', limit: 1 })).toMatchObject({
      counts: [{ path: 'new', count: 2 }],
      totals: { files: 2, matches: 3 },
      truncated: true,
    })
  })

  it('filters by glob, type and case', async () => {
    const { grep } = await bench({ 'a.ts': 'foo', 'b.js': 'FOO', 'src/c.ts': 'foo', 'src/d.py': 'foo', 'e.tsx': 'foo' })
    const files = async (more: object) => (await grep('foo', { mode: 'files_with_matches', ...more })).files.sort()
    expect(await files({ glob: '*.ts' })).toEqual(['a.ts', 'src/c.ts'])
    expect(await files({ glob: '*.{ts,py}' })).toEqual(['a.ts', 'src/c.ts', 'src/d.py'])
    expect(await files({ glob: 'src/**' })).toEqual(['src/c.ts', 'src/d.py'])
    expect(await files({ glob: '!*.ts' })).toEqual(['e.tsx', 'src/d.py'])
    expect(await files({ type: 'ts' })).toEqual(['a.ts', 'e.tsx', 'src/c.ts'])
    expect(await files({ type: 'python' })).toEqual(['src/d.py'])
    expect(await files({ type: 'ts', glob: 'src/**' })).toEqual(['src/c.ts'])
    expect(await files({ ignoreCase: true, type: 'js' })).toEqual(['b.js'])
  })

  it('applies .gitignore, searches hidden files, and skips .git and .atelier from above only', async () => {
    const { grep } = await bench({
      '.gitignore': 'build/\n*.log\n!keep.log\n/rooted\n',
      'build/a': 'foo',
      'x.log': 'foo',
      'keep.log': 'foo',
      rooted: 'foo',
      'sub/rooted': 'foo',
      'sub/.gitignore': 'local\n',
      'sub/local': 'foo',
      '.hidden': 'foo',
      '.git/config': 'foo',
      '.atelier/jobs/log': 'foo',
      '.ignore': 'plain',
      plain: 'foo',
    })
    const files = async (more: object = {}) => (await grep('foo', { mode: 'files_with_matches', ...more })).files.sort()
    expect(await files()).toEqual(['.hidden', 'keep.log', 'plain', 'sub/rooted'])
    expect(await files({ path: '.git' })).toEqual(['.git/config'])
    expect(await files({ path: '.atelier/jobs' })).toEqual(['.atelier/jobs/log'])
    expect(await files({ path: 'x.log' })).toEqual(['x.log'])
    expect(await files({ path: 'sub' })).toEqual(['sub/rooted'])
    expect(await files({ glob: '*.log' })).toEqual(['keep.log', 'x.log'])
  })

  it('matches across lines only when asked', async () => {
    const { grep } = await bench({ a: 'begin\nmiddle\nend\nbegin end\n' })
    expect((await grep('begin.*?end')).lines.map(line => line.line)).toEqual([4])
    expect((await grep('begin.*?middle', { multiline: true })).lines.map(line => line.line)).toEqual([1, 2])
    expect((await grep('begin.*?end', { multiline: true, mode: 'count' })).counts).toEqual([{ path: 'a', count: 2 }])
  })

  it('cuts a long line around the match', async () => {
    const { grep } = await bench({ a: `${'é'.repeat(750_000)}NEEDLE${'😀'.repeat(400_000)}\n` })
    const { lines } = await grep('NEEDLE', { maxLineBytes: 100 })
    expect(lines[0]!.text).toContain('NEEDLE')
    expect(lines[0]!.text).not.toContain('\ufffd')
    expect(Buffer.byteLength(lines[0]!.text)).toBeLessThan(110)
    expect(lines[0]!.text).toMatch(/^….*…$/)
  })

  it('quotes a bad pattern and says why', async () => {
    const { grep } = await bench({ a: 'x' })
    const error = await failure(grep('foo('))
    expect(error.code).toBe('invalid_argument')
    expect(error.message).toContain('"foo("')
    expect(error.message).toMatch(/unclosed group|Unterminated group/)
    expect((await failure(grep(''))).code).toBe('invalid_argument')
    const type = await failure(grep('x', { type: 'nosuchtype' }))
    expect(type).toMatchObject({ code: 'invalid_argument' })
    expect(type.message).toContain('nosuchtype')
    expect((await grep('nothing here')).lines).toEqual([])
  })

  it('takes patterns that begin with a dash, and paths with odd names', async () => {
    const { grep } = await bench({ 'with space\nand newline': '--foo\n', 'quote\'"': '--foo\n', '-dash': '--foo\n' })
    expect((await grep('--foo')).lines.map(line => line.path)).toEqual(['-dash', 'quote\'"', 'with space\nand newline'])
    expect((await grep('--foo', { mode: 'count' })).counts.map(entry => entry.count)).toEqual([1, 1, 1])
    expect((await grep('--foo', { path: '-dash' })).lines).toHaveLength(1)
  })

  it('says that a path is missing; takes a file; survives broken links and does not follow links', async () => {
    const { grep, at } = await bench({ 'a.txt': 'foo\n', 'd/b.txt': 'foo\n' })
    await symlink('nowhere', at('broken'))
    await symlink('d', at('linked'))
    expect((await failure(grep('foo', { path: 'a.tx' }))).hint).toContain('a.txt')
    expect((await grep('foo', { path: 'a.txt' })).lines).toEqual([{ path: 'a.txt', line: 1, text: 'foo', kind: 'match' }])
    const all = await grep('foo')
    expect(all.lines.map(line => line.path)).toEqual(['a.txt', 'd/b.txt'])
    expect((await grep('foo', { path: 'linked' })).lines.map(line => line.path)).toEqual(['linked/b.txt'])
  })

  it('skips binary files, and says so of one that was named', async () => {
    const { grep } = await bench({ 'a.bin': 'foo\0foo\n', 'u16.txt': Buffer.from('\ufefffoo ≤\n', 'utf16le'), t: 'foo\n' })
    const result = await grep('foo')
    expect(result.lines.map(line => [line.path, line.text])).toEqual([
      ['t', 'foo'],
      ['u16.txt', 'foo ≤'],
    ])
    expect((await grep('foo', { path: 'a.bin' })).notices.join()).toContain('binary')
  })

  it('keeps to its confine', async () => {
    const { grep, at } = await bench({ 'in/a': 'foo', 'out/b': 'foo' })
    await symlink('../out', at('in/link'))
    expect((await failure(grep('foo', { path: 'out', confine: at('in') }))).code).toBe('permission_denied')
    expect((await failure(grep('foo', { path: 'in/link', confine: at('in') }))).code).toBe('permission_denied')
    expect((await grep('foo', { path: 'in', confine: at('in') })).lines.map(line => line.path)).toEqual(['in/a'])
  })

  it('gives what it can when something is unreadable', async context => {
    if (process.getuid?.() === 0) return context.skip('root may read everything')
    const { grep, at } = await bench({ a: 'foo\n', 'd/b': 'foo\n' })
    await chmod(at('d'), 0)
    const result = await grep('foo')
    expect(result.lines).toHaveLength(1)
    expect(result.notices.join()).toContain('unreadable')
    await chmod(at('d'), 0o755)
  })

  it('is cancelled', async () => {
    const { grep } = await bench({ a: 'foo\n' })
    expect((await failure(grep('foo', {}, AbortSignal.abort()))).code).toBe('cancelled')
  })
})

describe('ripgrep', () => {
  it('is looked for in the option, then on the path of the link', async () => {
    const { service, at, workdir } = await searchBench({})
    expect(await service.ripgrep()).toBeNull()
    expect(await service.ripgrep({ PATH: workdir })).toBeNull()
    await writeFile(at('rg'), '#!/bin/sh\n', { mode: 0o755 })
    expect(await service.ripgrep({ PATH: `/nowhere:${workdir}` })).toBe(at('rg'))
    const fixed = await searchBench({}, { ripgrep: at('rg') })
    expect(await fixed.service.ripgrep()).toBe(at('rg'))
  })

  /** A search by a script in place of ripgrep. */
  async function scripted(script: string, timeoutMs = 20_000) {
    const { at } = await searchBench({})
    await writeFile(at('rg'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return searchBench({ a: 'foo\n' }, { ripgrep: at('rg'), timeoutMs })
  }

  it('tells partial answers from none', async () => {
    const partial = await scripted(
      'for p; do :; done; printf "%s/a\\0001:1:foo\\n" "$p"; echo "rg: /x: Permission denied (os error 13)" >&2; exit 2',
    )
    const result = await partial.grep('foo')
    expect(result.lines).toMatchObject([{ path: 'a', line: 1, text: 'foo' }])
    expect(result.notices).toEqual(['The answer is partial: 1 path was unreadable (/x: Permission denied (os error 13)).'])
    const none = await scripted('echo "rg: /x: No such file or directory (os error 2)" >&2; exit 2')
    expect(await none.grep('foo')).toMatchObject({ lines: [], notices: [expect.stringContaining('unreadable')] })
  })

  it('is tried again with one thread when the system is busy', async () => {
    const { grep } = await scripted(
      'case "$*" in *--threads=1*) for p; do :; done; printf "%s/a\\0001:1:foo\\n" "$p";; *) echo "rg: Resource temporarily unavailable (os error 11)" >&2; exit 2;; esac',
    )
    expect(await grep('foo')).toMatchObject({ lines: [{ text: 'foo' }], notices: [] })
  })

  it('gives what it had at the time limit', async () => {
    const { grep } = await scripted('for p; do :; done; printf "%s/a\\0001:1:foo\\n" "$p"; exec sleep 60', 1500)
    expect(await grep('foo')).toMatchObject({ lines: [{ text: 'foo' }], notices: [expect.stringContaining('incomplete')] })
  })

  it('is replaced by the built-in search when it cannot be started', async () => {
    const { at } = await searchBench({})
    await writeFile(at('rg'), 'no program', { mode: 0o755 })
    const { grep } = await searchBench({ a: 'foo\n' }, { ripgrep: at('rg') })
    expect(await grep('foo')).toMatchObject({ engine: 'builtin', lines: [{ text: 'foo' }] })
  })

  it('is stopped once there is enough', async context => {
    if (rg === null) return context.skip('there is no ripgrep here')
    const { grep, at } = await searchBench({}, { ripgrep: rg })
    execFileSync('sh', ['-c', 'yes foo | head -n 3000000 > "$0"', at('a')])
    const result = await grep('foo', { limit: 10 })
    expect(result.lines.map(line => line.line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(result.truncated).toBe(true)
  })

  it('tries look-around with PCRE2 where it is built in', async context => {
    if (rg === null || !/\+pcre2|PCRE2 .* is available/i.test(execFileSync(rg, ['--version'], { encoding: 'utf8' })))
      return context.skip('this ripgrep has no PCRE2')
    const { grep } = await searchBench({ a: 'foobar\nfoobaz\n' }, { ripgrep: rg })
    expect((await grep('foo(?=baz)')).lines.map(line => line.line)).toEqual([2])
  })
})

describe('built-in search', () => {
  it('ends a pattern that runs away, and gives what it had', async () => {
    const { grep } = await searchBench({ a: `${'a'.repeat(40)}!\n` }, { ripgrep: null, timeoutMs: 1000 })
    const result = await grep('^(a+)+$')
    expect(result).toMatchObject({ lines: [], notices: [expect.stringContaining('incomplete')] })
  })

  it('knows the spellings of ripgrep', async () => {
    const { grep } = await searchBench({ a: 'Foo-1\nbar]}\n\ttab "q"\n' }, { ripgrep: null })
    const lines = async (pattern: string) => (await grep(pattern)).lines.map(line => line.line)
    expect(await lines('(?i)foo')).toEqual([1])
    expect(await lines('[[:digit:]]$')).toEqual([1])
    expect(await lines('(?P<name>bar)')).toEqual([2])
    expect(await lines('bar]}')).toEqual([2])
    expect(await lines('\\"q\\"')).toEqual([3])
    expect(await lines('\\p{Lu}oo\\-\\d{1,2}')).toEqual([1])
    expect(await lines('[]x]')).toEqual([2])
  })

  it('leaves rules of an outer repository behind in an inner one', async () => {
    const { grep } = await searchBench(
      { '.gitignore': 'x', 'in/.git/HEAD': 'h', 'in/x': 'foo', 'out/x': 'foo' },
      { ripgrep: null },
    )
    expect((await grep('foo')).lines.map(line => line.path)).toEqual(['in/x'])
  })
})

describe('both engines', () => {
  it('give the same answers', async context => {
    if (rg === null) return context.skip('there is no ripgrep here')
    const files: Record<string, string> = { '.gitignore': '*.tmp\nskip/\n' }
    for (let i = 0; i < 60; i++) {
      const folder = ['src', 'src/deep', 'skip', 'doc', '.hidden'][i % 5]!
      const name = `${folder}/f${i}.${['ts', 'js', 'md', 'tmp'][i % 4]}`
      files[name] = Array.from(
        { length: 1 + (i % 9) },
        (_, n) => ['alpha beta', 'Beta(1)', 'γ delta é', '', `${'x'.repeat(i * 20)}beta`][(i + n) % 5]!,
      ).join(i % 3 ? '\n' : '\r\n')
    }
    const fast = await searchBench(files, { ripgrep: rg })
    const own = await searchBench({}, { ripgrep: null, workdir: fast.workdir })
    await mkdir(fast.at('empty'))
    const queries = [
      ['beta', {}],
      ['beta', { ignoreCase: true, before: 1, after: 2 }],
      ['^$', {}],
      ['\\d\\)$', { mode: 'count' }],
      ['é$', { glob: '*.md' }],
      ['beta', { glob: 'src/**/*.ts', mode: 'files_with_matches' }],
      ['beta', { glob: '!src', mode: 'count' }],
      ['alpha', { type: 'js' }],
      ['beta.*delta', { multiline: true, mode: 'content' }],
      ['[^a]\\s', { path: 'src' }],
      ['x{3}', { maxLineBytes: 60 }],
      ['beta', { glob: '*.tmp', mode: 'count' }],
    ] as const
    for (const [pattern, more] of queries) {
      const [one, other] = [await fast.grep(pattern, more), await own.grep(pattern, more)]
      expect({ ...other, engine: '' }, `${pattern} ${JSON.stringify(more)}`).toEqual({ ...one, engine: '' })
    }
  })
})
