import { symlink, utimes } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { failure, plant, searchBench } from './harness.ts'

const FILES = {
  'a.ts': '',
  'b.js': '',
  'src/c.ts': '',
  'src/deep/d.ts': '',
  'src/deep/e.tsx': '',
  '.hidden/f.ts': '',
  '.git/g.ts': '',
  '.atelier/h.ts': '',
  'node_modules/m/i.ts': '',
  '.gitignore': '*.ts\n',
}

describe('glob', () => {
  it.each([
    ['*.ts', ['a.ts']],
    ['**/*.ts', ['.hidden/f.ts', 'a.ts', 'node_modules/m/i.ts', 'src/c.ts', 'src/deep/d.ts']],
    ['src/**/*.{ts,tsx}', ['src/c.ts', 'src/deep/d.ts', 'src/deep/e.tsx']],
    ['./src/*.ts', ['src/c.ts']],
    ['src/*/*', ['src/deep/d.ts', 'src/deep/e.tsx']],
    ['src/c.ts', ['src/c.ts']],
    ['[ab].?s', ['a.ts', 'b.js']],
    ['@(a|b).*', ['a.ts', 'b.js']],
    ['src\\**\\*.ts', ['src/c.ts', 'src/deep/d.ts']],
    ['.git/*', ['.git/g.ts']],
    ['nowhere/**', []],
    ['*.none', []],
  ])('%s', async (pattern, expected) => {
    const { glob } = await searchBench(FILES)
    const result = await glob(pattern)
    expect(result.files.sort()).toEqual(expected)
    expect(result).toMatchObject({ total: expected.length, truncated: false, notices: [] })
  })

  it.each([`${'{a,a}'.repeat(30)}c`, '(a+)+c', `${'(a|a)'.repeat(30)}c`])(
    '%s is stopped, and stops nothing else',
    async pattern => {
      const { glob } = await searchBench({ [`${'a'.repeat(40)}b`]: '' }, { timeoutMs: 300 })
      const started = performance.now()
      expect((await failure(glob(pattern))).code).toBe('timeout')
      expect(performance.now() - started).toBeLessThan(5_000)
    },
  )

  it.runIf(process.platform === 'linux')('lists what can be seen but not looked at', async () => {
    const { glob } = await searchBench({})
    expect((await glob('/proc/*/cwd', { limit: 5 })).notices).toEqual([])
  })

  it('gives the newest first, up to the limit', async () => {
    const { glob, at } = await searchBench({ a: '', b: '', c: '' })
    await utimes(at('a'), 3000, 3000)
    await utimes(at('b'), 1000, 1000)
    await utimes(at('c'), 2000, 2000)
    expect(await glob('*', { limit: 2 })).toMatchObject({ files: ['a', 'c'], total: 3, truncated: true })
  })

  it('takes absolute patterns, another path, and parents', async () => {
    const { glob, at } = await searchBench(FILES)
    expect((await glob(`${at('src')}/*.ts`)).files).toEqual(['src/c.ts'])
    expect((await glob('*.ts', { path: 'src' })).files).toEqual(['src/c.ts'])
    expect((await glob('../*.js', { path: 'src' })).files).toEqual(['b.js'])
    expect((await failure(glob('/etc/*', { confine: at('src') }))).code).toBe('permission_denied')
    expect((await failure(glob('*', { path: 'sr' }))).hint).toContain('src')
    expect((await failure(glob('*', { path: 'a.ts' }))).code).toBe('invalid_argument')
  })

  it('gives links to files, follows none to directories, leaves broken ones out', async () => {
    const { glob, at } = await searchBench({ 'd/a': '' })
    await symlink('d/a', at('file-link'))
    await symlink('d', at('dir-link'))
    await symlink('nowhere', at('broken'))
    expect((await glob('**/*')).files.sort()).toEqual(['d/a', 'file-link'])
  })

  it('refuses what is no pattern', async () => {
    const { glob } = await searchBench({})
    expect((await failure(glob(''))).code).toBe('invalid_argument')
    const error = await failure(glob('*/[a'))
    expect(error.code).toBe('invalid_argument')
    expect(error.message).toContain('"*/[a"')
  })

  it('matches names with brackets when they are escaped', async () => {
    const { glob } = await searchBench({ 'app/[id]/page.tsx': '' })
    expect((await glob('app/\\[id\\]/*.tsx')).files).toEqual(['app/[id]/page.tsx'])
  })

  it('ends a pattern that runs away', async () => {
    const { glob } = await searchBench({ ['a'.repeat(200)]: '' }, { timeoutMs: 1000 })
    expect((await failure(glob(`${'*a'.repeat(30)}b`))).code).toBe('timeout')
    expect((await glob('*a*a*a*a*')).total).toBe(1)
  })

  it('takes a directory of many files', async () => {
    const { glob, workdir } = await searchBench({})
    const files: Record<string, string> = {}
    for (let i = 0; i < 5000; i++) files[`many/${i}.txt`] = ''
    await plant(workdir, files)
    expect(await glob('**/*.txt', { limit: 100 })).toMatchObject({ total: 5000, truncated: true })
  })
})
