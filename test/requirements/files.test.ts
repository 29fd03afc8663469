import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../support/verifies.ts'

const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`).join('\n')

verifies('read.numbers', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), `${lines(1, 50)}\n`)
  const text = await client.text('Read', { file_path: 'a.txt', offset: 10, limit: 3 })
  expect(text).toMatch(/10\W+line 10\n\s*11\W+line 11\n\s*12\W+line 12/)
  expect(text).not.toMatch(/^\s*13\W+line 13$/m)
  expect(text).toMatch(/50|more/)
})

verifies('read.tail', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), lines(1, 5_000))
  const text = await client.text('Read', { file_path: 'a.txt', offset: -2 })
  expect(text).toMatch(/line 4999\n[\s\S]*line 5000/)
  expect(text).not.toContain('line 4998')
})

verifies('read.last-line', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), 'one\ntwo without end')
  expect(await client.text('Read', { file_path: 'a.txt', offset: 2 })).toContain('two without end')
})

verifies('read.empty', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), '')
  expect(await client.text('Read', { file_path: 'a.txt' })).toMatch(/empty/i)
})

verifies('read.past-end', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), 'one\ntwo\n')
  const result = await client.call('Read', { file_path: 'a.txt', offset: 99 })
  expect(JSON.stringify(result.content)).toMatch(/\b2 lines\b|past the end|beyond|only/i)
})

verifies('read.directory', async ({ client, dir }) => {
  mkdirSync(join(dir, 'folder'))
  expect(await client.failure('Read', { file_path: 'folder' })).toMatch(/directory/i)
})

verifies('read.binary', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.bin'), Buffer.from([0, 1, 2, 3, 0xff, 0, 0, 7]))
  const result = await client.call('Read', { file_path: 'a.bin' })
  expect(JSON.stringify(result.content)).toMatch(/binary/i)
})

verifies('read.special', async ({ client, dir }) => {
  execFileSync('mkfifo', [join(dir, 'pipe')])
  expect(await client.failure('Read', { file_path: 'pipe' })).toMatch(/fifo|pipe/i)
  expect(await client.failure('Read', { file_path: '/dev/zero' })).toMatch(/device/i)
})

verifies('read.missing', async ({ client, dir }) => {
  writeFileSync(join(dir, 'settings.json'), '{}')
  const text = await client.failure('Read', { file_path: 'setings.json' })
  expect(text).toContain('setings.json')
  expect(text).toContain('settings.json')
})

verifies('read.encodings', async ({ client, dir }) => {
  writeFileSync(join(dir, 'utf16.txt'), Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('größe\r\nzwei\r\n', 'utf16le')]))
  writeFileSync(join(dir, 'latin1.txt'), Buffer.from('gr\xf6\xdfe und mehr\n', 'latin1'))
  const utf16 = await client.text('Read', { file_path: 'utf16.txt' })
  expect(utf16).toContain('größe')
  expect(utf16).toMatch(/utf-?16/i)
  const latin1 = await client.text('Read', { file_path: 'latin1.txt' })
  expect(latin1).toContain('größe')
  expect(latin1).toMatch(/latin-?1|8859-1|1252/i)
})

verifies('read.long-line', async ({ client, dir }) => {
  writeFileSync(join(dir, 'one.json'), `${'x'.repeat(3_000_000)}\n`)
  const text = await client.text('Read', { file_path: 'one.json' })
  expect(text.length).toBeLessThan(150_000)
  expect(text).toMatch(/cut|truncated|longer|more/i)
})

verifies('read.fresh', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), 'old\n')
  await client.text('Read', { file_path: 'a.txt' })
  writeFileSync(join(dir, 'a.txt'), 'new\n')
  expect(await client.text('Read', { file_path: 'a.txt' })).toContain('new')
})

verifies('files.names', async ({ client, dir }) => {
  for (const name of ['with space.txt', `it's "quoted".txt`, 'new\nline.txt', 'übung-日本.txt', '-leading.txt', '$HOME.txt']) {
    await client.text('Write', { file_path: name, content: `in ${name}` })
    expect(readFileSync(join(dir, name), 'utf8')).toBe(`in ${name}`)
    expect(await client.text('Read', { file_path: join(dir, name) })).toContain('in ')
  }
})

verifies('write.parents', async ({ client, dir }) => {
  await client.text('Write', { file_path: 'a/b/c.txt', content: 'deep\n' })
  expect(readFileSync(join(dir, 'a/b/c.txt'), 'utf8')).toBe('deep\n')
})

verifies('write.read-first', async ({ client, dir }) => {
  writeFileSync(join(dir, 'a.txt'), 'mine\n')
  expect(await client.failure('Write', { file_path: 'a.txt', content: 'yours\n' })).toMatch(/read/i)
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('mine\n')
  await client.text('Read', { file_path: 'a.txt' })
  await client.text('Write', { file_path: 'a.txt', content: 'yours\n' })
  await client.text('Write', { file_path: 'a.txt', content: 'again\n' })
  expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('again\n')
})

verifies('write.changed-since', async ({ client, dir }) => {
  const path = join(dir, 'a.txt')
  writeFileSync(path, 'mine\n')
  await client.text('Read', { file_path: 'a.txt' })
  writeFileSync(path, 'someone else\n')
  expect(await client.failure('Write', { file_path: 'a.txt', content: 'yours\n' })).toMatch(/changed|modified/i)
  expect(readFileSync(path, 'utf8')).toBe('someone else\n')
})

verifies('write.touched', async ({ client, dir }) => {
  const path = join(dir, 'a.txt')
  writeFileSync(path, 'mine\n')
  await client.text('Read', { file_path: 'a.txt' })
  utimesSync(path, new Date(), new Date(Date.now() + 5_000))
  await client.text('Write', { file_path: 'a.txt', content: 'yours\n' })
  expect(readFileSync(path, 'utf8')).toBe('yours\n')
})

verifies('write.keeps', async ({ client, dir }) => {
  writeFileSync(join(dir, 'script.sh'), '#!/bin/sh\n')
  chmodSync(join(dir, 'script.sh'), 0o754)
  symlinkSync('script.sh', join(dir, 'link.sh'))
  await client.text('Read', { file_path: 'link.sh' })
  await client.text('Write', { file_path: 'link.sh', content: '#!/bin/sh\necho hi\n' })
  expect(lstatSync(join(dir, 'link.sh')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(dir, 'script.sh'), 'utf8')).toContain('echo hi')
  expect(statSync(join(dir, 'script.sh')).mode & 0o777).toBe(0o754)
})

verifies('write.large', async ({ client, dir }) => {
  const content = 'a line of text, é\n'.repeat(1_100_000)
  await client.text('Write', { file_path: 'big.txt', content })
  expect(readFileSync(join(dir, 'big.txt'), 'utf8') === content).toBe(true)
})

verifies('write.fails-whole', async ({ client }) => {
  expect(await client.failure('Write', { file_path: '/proc/version', content: 'x' })).not.toBe('')
  expect(await client.failure('Write', { file_path: '/dev/full', content: 'x' })).toMatch(/device|regular/i)
})

verifies('files.relative', async ({ client, dir }) => {
  await client.text('Bash', { command: 'mkdir sub; cd sub' })
  await client.text('Write', { file_path: 'here.txt', content: 'x' })
  expect(readFileSync(join(dir, 'here.txt'), 'utf8')).toBe('x')
})

verifies('files.confine', async ({ connect, world, dir }) => {
  writeFileSync(join(world.root, 'outside.txt'), 'secret')
  mkdirSync(join(world.root, 'project-evil'))
  writeFileSync(join(world.root, 'project-evil/x.txt'), 'secret')
  symlinkSync(world.root, join(dir, 'escape'))
  const client = await connect({ env: { ATELIER_CONFINE: 'workdir' } })
  for (const file_path of ['../outside.txt', join(world.root, 'outside.txt'), 'escape/outside.txt', '../project-evil/x.txt'])
    expect(await client.failure('Read', { file_path })).toMatch(/outside|confine/i)
  expect(await client.failure('Write', { file_path: 'escape/new.txt', content: 'x' })).toMatch(/outside|confine/i)
  writeFileSync(join(dir, 'inside.txt'), 'fine')
  expect(await client.text('Read', { file_path: 'inside.txt' })).toContain('fine')
})
