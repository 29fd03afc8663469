import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../support/verifies.ts'

function tree(dir: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
}

verifies('glob.newest-first', async ({ client, dir }) => {
  tree(dir, { 'old.ts': '', 'src/new.ts': '', 'other.md': '' })
  utimesSync(join(dir, 'old.ts'), 1_000, 1_000)
  const text = await client.text('Glob', { pattern: '**/*.ts' })
  expect(text.indexOf('new.ts')).toBeGreaterThanOrEqual(0)
  expect(text.indexOf('new.ts')).toBeLessThan(text.indexOf('old.ts'))
  expect(text).not.toContain('other.md')
})

verifies('glob.braces', async ({ client, dir }) => {
  tree(dir, { 'a.ts': '', 'b.js': '', 'c.md': '', '.hidden/d.ts': '' })
  const text = await client.text('Glob', { pattern: '**/*.{ts,js}' })
  for (const name of ['a.ts', 'b.js', 'd.ts']) expect(text).toContain(name)
  expect(text).not.toContain('c.md')
})

verifies('glob.ignores', async ({ client, dir }) => {
  tree(dir, { '.git/config': '', '.gitignore': 'built/\n', 'built/out.js': '' })
  const text = await client.text('Glob', { pattern: '**/*' })
  expect(text).toContain('built/out.js')
  expect(text).not.toContain('.git/config')
})

verifies('glob.none', async ({ client }) => {
  expect(await client.text('Glob', { pattern: '**/*.nothing' })).toMatch(/no (files|match)/i)
  expect(await client.failure('Glob', { pattern: '*', path: 'no-such-folder' })).toContain('no-such-folder')
})

verifies('glob.cap', async ({ client, dir }) => {
  for (let i = 0; i < 450; i += 1) writeFileSync(join(dir, `f${i}.txt`), '')
  const text = await client.text('Glob', { pattern: '*.txt' })
  expect(text.match(/f\d+\.txt/g)?.length).toBeLessThan(450)
  expect(text).toMatch(/450|more/)
})

verifies('grep.content', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'one\nneedle here\nthree\n', 'sub/b.txt': 'NEEDLE\n' })
  const text = await client.text('Grep', { pattern: 'needle', output_mode: 'content', '-n': true })
  expect(text).toMatch(/a\.txt[:\s]+2[:\s].*needle here/)
  expect(text).not.toContain('NEEDLE')
  expect(await client.text('Grep', { pattern: 'needle', '-i': true })).toContain('sub/b.txt')
})

verifies('grep.context', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'l1\nl2\nneedle\nl4\nl5\n' })
  const text = await client.text('Grep', { pattern: 'needle', output_mode: 'content', '-C': 1 })
  expect(text).toMatch(/l2[\s\S]*needle[\s\S]*l4/)
  expect(text).not.toMatch(/l1|l5/)
})

verifies('grep.modes', async ({ client, dir }) => {
  tree(dir, { 'a.ts': 'x\nx\n', 'b.md': 'x\n' })
  expect(await client.text('Grep', { pattern: 'x', output_mode: 'count' })).toMatch(/a\.ts\W+2/)
  const typed = await client.text('Grep', { pattern: 'x', type: 'ts' })
  expect(typed).toContain('a.ts')
  expect(typed).not.toContain('b.md')
  expect(await client.text('Grep', { pattern: 'x', glob: '*.md' })).not.toContain('a.ts')
})

verifies('grep.multiline', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'begin\nmiddle\nend\n' })
  expect(await client.text('Grep', { pattern: 'begin[\\s\\S]*end', multiline: true })).toContain('a.txt')
})

verifies('grep.ignores', async ({ client, dir }) => {
  tree(dir, { '.gitignore': 'built/\n', 'built/out.js': 'needle', 'src.js': 'needle', '.git/x': 'needle' })
  const text = await client.text('Grep', { pattern: 'needle' })
  expect(text).toContain('src.js')
  expect(text).not.toMatch(/out\.js|\.git\/x/)
})

verifies('grep.none', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'hay' })
  expect(await client.text('Grep', { pattern: 'needle' })).toMatch(/no match/i)
})

verifies('grep.bad-pattern', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'hay' })
  expect(await client.failure('Grep', { pattern: 'open(' })).toContain('open(')
})

verifies('grep.broken-link', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'needle' })
  symlinkSync('nowhere', join(dir, 'dangling'))
  expect(await client.text('Grep', { pattern: 'needle' })).toContain('a.txt')
  expect(await client.text('Glob', { pattern: '**/*.txt' })).toContain('a.txt')
})

verifies('grep.long-line', async ({ client, dir }) => {
  tree(dir, { 'one.json': `${'x'.repeat(1_500_000)}needle${'y'.repeat(1_500_000)}` })
  const text = await client.text('Grep', { pattern: 'needle', output_mode: 'content' })
  expect(text).toContain('needle')
  expect(text.length).toBeLessThan(10_000)
})

verifies('grep.dash', async ({ client, dir }) => {
  tree(dir, { 'a.txt': '--flag\n', '-odd.txt': '--flag\n' })
  const text = await client.text('Grep', { pattern: '--flag' })
  expect(text).toContain('a.txt')
  expect(text).toContain('-odd.txt')
})

verifies('grep.cap', async ({ client, dir }) => {
  tree(dir, { 'a.txt': 'needle\n'.repeat(2_000) })
  const text = await client.text('Grep', { pattern: 'needle', output_mode: 'content', head_limit: 5 })
  expect(text.match(/needle/g)?.length).toBeLessThanOrEqual(6)
  expect(text).toMatch(/more|offset|of 2,?000/i)
})

verifies('grep.missing-path', async ({ client }) => {
  expect(await client.failure('Grep', { pattern: 'x', path: 'no-such-folder' })).toContain('no-such-folder')
})
