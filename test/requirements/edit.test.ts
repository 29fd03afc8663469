import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Case } from '../support/verifies.ts'
import { verifies } from '../support/verifies.ts'

/** Puts a file there and has the client read it, as an edit requires. */
async function prepare({ client, dir }: Case, content: string | Buffer, name = 'a.txt'): Promise<() => Buffer> {
  writeFileSync(join(dir, name), content)
  await client.text('Read', { file_path: name })
  return () => readFileSync(join(dir, name))
}

verifies('edit.crlf', async test => {
  const now = await prepare(test, 'one\r\ntwo\r\nthree\r\n')
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'one\ntwo', new_string: 'one\n1.5\ntwo' })
  expect(now().toString()).toBe('one\r\n1.5\r\ntwo\r\nthree\r\n')
})

verifies('edit.mixed-eol', async test => {
  const now = await prepare(test, 'a\r\nb\nc\r\nd\n')
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'd', new_string: 'D' })
  expect(now().toString()).toBe('a\r\nb\nc\r\nD\n')
})

verifies('edit.bom', async test => {
  const now = await prepare(test, '\ufeffhello\n')
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'bye' })
  expect(now().toString()).toBe('\ufeffbye\n')
})

verifies('edit.encoding', async test => {
  const now = await prepare(test, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('größe\n', 'utf16le')]))
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'größe', new_string: 'Länge' })
  expect(now().equals(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Länge\n', 'utf16le')]))).toBe(true)
})

verifies('edit.encoding.lossy', async test => {
  const before = Buffer.from('gr\xf6\xdfe und mehr\n', 'latin1')
  const now = await prepare(test, before)
  await test.client.failure('Edit', { file_path: 'a.txt', old_string: 'mehr', new_string: '日本' })
  expect(now().equals(before)).toBe(true)
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'mehr', new_string: 'weniger' })
  expect(now().toString('latin1')).toBe('gr\xf6\xdfe und weniger\n')
})

verifies('edit.dollar', async test => {
  const now = await prepare(test, 'price: X\n')
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'X', new_string: "$& $1 $$ $' \\n" })
  expect(now().toString()).toBe("price: $& $1 $$ $' \\n\n")
})

verifies('edit.several', async test => {
  const now = await prepare(test, 'x\ny\nx\nz\nx\n')
  const text = await test.client.failure('Edit', { file_path: 'a.txt', old_string: 'x', new_string: 'X' })
  expect(text).toMatch(/3/)
  expect(text).toMatch(/1\D+3\D+5/)
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'x', new_string: 'X', replace_all: true })
  expect(now().toString()).toBe('X\ny\nX\nz\nX\n')
})

verifies('edit.none', async test => {
  await prepare(test, 'function add(a, b) {\n\treturn a + b\n}\n')
  const text = await test.client.failure('Edit', {
    file_path: 'a.txt',
    old_string: 'function add(a, b) {\n    return a + b\n}',
    new_string: 'x',
  })
  expect(text).toMatch(/whitespace|indent|tab/i)
  expect(text).toMatch(/line\D*[12]/i)
})

verifies('edit.grows', async test => {
  const tail = `${'tail line\n'.repeat(15_000)}THE END\n`
  const now = await prepare(test, `START\n${tail}`)
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'START', new_string: 'START\n'.repeat(5_000) })
  expect(now().toString().endsWith('\nTHE END\n')).toBe(true)
  expect(now().length).toBe(6 * 5_000 + 1 + tail.length)
})

verifies('edit.parallel', async test => {
  const now = await prepare(test, Array.from({ length: 20 }, (_, i) => `slot-${i}-empty\n`).join(''))
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      test.client.text('Edit', {
        file_path: i % 2 ? 'a.txt' : join(test.workdir, 'a.txt'),
        old_string: `slot-${i}-empty`,
        new_string: `slot-${i}-full`,
      }),
    ),
  )
  expect(now().toString()).toBe(Array.from({ length: 20 }, (_, i) => `slot-${i}-full\n`).join(''))
})

verifies('edit.read-first', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), 'hello\n')
  expect(await client.failure('Edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'bye' })).toMatch(/read/i)
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('hello\n')
})

verifies('edit.again', async test => {
  const now = await prepare(test, 'one two\n')
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'one', new_string: '1' })
  await test.client.text('Edit', { file_path: 'a.txt', old_string: 'two', new_string: '2' })
  expect(now().toString()).toBe('1 2\n')
})

verifies('edit.changed-since', async test => {
  const now = await prepare(test, 'hello\n')
  writeFileSync(join(test.dir, 'a.txt'), 'hello there\n')
  expect(await test.client.failure('Edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'bye' })).toMatch(
    /changed|modified/i,
  )
  expect(now().toString()).toBe('hello there\n')
})

verifies('edit.same', async test => {
  await prepare(test, 'hello\n')
  expect(await test.client.failure('Edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'hello' })).toMatch(
    /same|identical|no change/i,
  )
})

verifies('edit.excerpt', async test => {
  await prepare(test, Array.from({ length: 40 }, (_, i) => `row ${i + 1}\n`).join(''))
  const text = await test.client.text('Edit', { file_path: 'a.txt', old_string: 'row 20\n', new_string: 'row twenty\n' })
  expect(text).toMatch(/20\W+row twenty/)
  expect(text).not.toContain('row 40')
})

verifies('edit.private', async test => {
  await prepare(test, 'hello\n')
  const server = test.client.http
  const other = await test.connect(server ? { server } : {})
  expect(await other.failure('Edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'bye' })).toMatch(/read/i)
})
