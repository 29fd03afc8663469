import { execFile, execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { APPEND_MAX_BYTES } from '../../../src/gateway/files/append-file.ts'
import type { AppendParams } from '../../../src/gateway/protocol.ts'
import { type ContextOptions, callContext, failure, fileBench } from './harness.ts'

async function* chunks(...parts: string[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

async function bench() {
  const files = await fileBench()
  const append = (path: string, data: string | undefined, more: Partial<AppendParams> & ContextOptions = {}) => {
    const { input, signal, ...params } = more
    const given = data === undefined ? {} : { data }
    const context = callContext({ ...(input && { input }), ...(signal && { signal }) })
    return files.handlers['file.append']({ path, ...given, ...params }, context)
  }
  return { ...files, append }
}

describe('append', () => {
  it('makes the file with its parents and mode, then adds to it', async () => {
    const { append, at } = await bench()
    expect(await append('a/b/log', 'one\n', { mode: 0o600 })).toEqual({
      path: at('a/b/log'),
      created: true,
      offset: 0,
      bytes: 4,
    })
    expect(await append('a/b/log', 'zwö\n')).toEqual({ path: at('a/b/log'), created: false, offset: 4, bytes: 5 })
    expect(await readFile(at('a/b/log'), 'utf8')).toBe('one\nzwö\n')
    expect((await stat(at('a/b/log'))).mode & 0o777).toBe(0o600)
  })

  it('takes base64, a stream, and nothing', async () => {
    const { append, at } = await bench()
    await append('f', Buffer.from([0, 255, 10]).toString('base64'), { encoding: 'base64' })
    await append('f', undefined, { input: chunks('ab', 'cd') })
    expect(await append('f', '')).toMatchObject({ offset: 7, bytes: 0 })
    expect(await readFile(at('f'))).toEqual(Buffer.from([0, 255, 10, ...Buffer.from('abcd')]))
  })

  it('ends an unfinished line where asked to', async () => {
    const { append, at } = await bench()
    await writeFile(at('f'), '{"cut": "sh')
    expect(await append('f', '{}\n', { ownLine: true })).toMatchObject({ offset: 12, bytes: 3 })
    await append('f', '[]\n', { ownLine: true })
    await append('new', 'x\n', { ownLine: true })
    expect(await readFile(at('f'), 'utf8')).toBe('{"cut": "sh\n{}\n[]\n')
    expect(await readFile(at('new'), 'utf8')).toBe('x\n')
  })

  it('keeps all of what is appended at once, by calls and by other programs', async () => {
    const { append, at } = await bench()
    const line = (who: string, n: number) => `${JSON.stringify({ who, n, fill: 'x'.repeat(3000) })}\n`
    const script = `const fs = require('fs'); const fd = fs.openSync(process.argv[1], 'a')
      for (let n = 0; n < 300; n++) fs.writeSync(fd, JSON.stringify({ who: process.argv[2], n, fill: 'x'.repeat(3000) }) + '\\n')`
    const others = ['p', 'q'].map(who => promisify(execFile)(process.execPath, ['-e', script, at('log'), who]))
    await Promise.all([...others, ...Array.from({ length: 300 }, (_, n) => append('log', line('c', n)))])
    const read = (await readFile(at('log'), 'utf8')).trimEnd().split('\n')
    const seen = read.map(text => JSON.parse(text) as { who: string; n: number })
    expect(seen).toHaveLength(900)
    expect(new Set(seen.map(({ who, n }) => `${who}${n}`)).size).toBe(900)
  })

  it('never changes what is there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 8 }), async parts => {
        const { append, at } = await bench()
        let whole = ''
        for (const part of parts) {
          await append('f', part)
          whole += Buffer.from(part).toString()
          expect(await readFile(at('f'), 'utf8')).toBe(whole)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('leaves things as they are on abort, a broken stream or too much', async () => {
    const { append, at, workdir } = await bench()
    await writeFile(at('f'), 'old')
    async function* broken(): AsyncIterable<Uint8Array> {
      yield Buffer.from('part')
      throw new Error('link lost')
    }
    async function* endless(): AsyncIterable<Uint8Array> {
      for (;;) yield Buffer.alloc(APPEND_MAX_BYTES / 8)
    }
    await expect(append('f', undefined, { input: broken() })).rejects.toThrow('link lost')
    await expect(append('new', undefined, { input: broken() })).rejects.toThrow('link lost')
    expect((await failure(append('f', undefined, { input: endless() }))).code).toBe('too_large')
    for (const path of ['f', 'new']) await expect(append(path, 'x', { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(await readFile(at('f'), 'utf8')).toBe('old')
    expect(await readdir(workdir)).toEqual(['f'])
  })

  it('refuses what is no regular file, and what lies outside', async () => {
    const { append, at, workdir } = await bench()
    await mkdir(at('d'))
    await symlink('/etc', at('etc'))
    execFileSync('mkfifo', [at('fifo')])
    expect((await failure(append('d', 'x'))).code).toBe('invalid_argument')
    expect((await failure(append('fifo', 'x'))).code).toBe('invalid_argument')
    expect((await failure(append('fifo', 'x', { ownLine: true }))).code).toBe('invalid_argument')
    expect((await failure(append('etc/x', 'x', { confine: workdir }))).code).toBe('permission_denied')
    expect((await failure(append('../x', 'x', { confine: workdir }))).code).toBe('permission_denied')
    await writeFile(at('f'), '')
    expect((await failure(append('f/x', 'x'))).code).toBe('invalid_argument')
  })
})

describe('an exclusive put', () => {
  it('writes what is not there yet, once', async () => {
    const { at, handlers, workdir } = await fileBench()
    const put = (path: string, text: string) =>
      handlers['file.put']({ path, exclusive: true, mode: 0o600 }, callContext({ input: chunks(text) }))
    expect(await put('a/f', 'first')).toMatchObject({ size: 5 })
    expect((await stat(at('a/f'))).mode & 0o777).toBe(0o600)
    expect((await failure(put('a/f', 'second'))).code).toBe('already_exists')
    expect(await readFile(at('a/f'), 'utf8')).toBe('first')
    const raced = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => put('race', `by ${n}`)))
    expect(raced.filter(result => result.status === 'fulfilled')).toHaveLength(1)
    expect(await readdir(workdir)).toEqual(['a', 'race'])
  })

  it('loses to a program that takes the name while the bytes arrive', async () => {
    const { at, handlers, workdir } = await fileBench()
    async function* slow(): AsyncIterable<Uint8Array> {
      yield Buffer.from('ours')
      await writeFile(at('f'), 'theirs')
    }
    const error = await failure(handlers['file.put']({ path: 'f', exclusive: true }, callContext({ input: slow() })))
    expect(error.code).toBe('already_exists')
    expect(await readFile(at('f'), 'utf8')).toBe('theirs')
    expect(await readdir(workdir)).toEqual(['f'])
  })
})
