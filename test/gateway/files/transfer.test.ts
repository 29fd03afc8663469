import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { callContext, failure, fileBench } from './harness.ts'

async function* chunks(...parts: (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
}

const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')

describe('get and bytes', () => {
  it('streams a whole file with its checksum', async () => {
    const { at, handlers } = await fileBench()
    const content = Buffer.alloc(1_000_000, 'abc\0')
    await writeFile(at('a'), content, { mode: 0o640 })
    const sent: Uint8Array[] = []
    const result = await handlers['file.get']({ path: 'a' }, callContext({ sent }))
    expect(result).toEqual({ path: at('a'), size: content.length, sha256: sha256(content), mode: 0o640 })
    expect(Buffer.concat(sent).equals(content)).toBe(true)
  })

  it('gives byte ranges, and not more than a call may', async () => {
    const { at, handlers } = await fileBench()
    await writeFile(at('a'), '0123456789')
    const range = (offset: number, length: number) => handlers['file.bytes']({ path: 'a', offset, length }, callContext())
    expect(await range(2, 3)).toEqual({ path: at('a'), size: 10, data: Buffer.from('234').toString('base64') })
    expect((await range(8, 100)).data).toBe(Buffer.from('89').toString('base64'))
    expect((await range(50, 5)).data).toBe('')
    expect((await failure(range(0, 2 ** 21))).code).toBe('too_large')
    expect((await failure(range(-1, 2))).code).toBe('invalid_argument')
  })
})

describe('put', () => {
  it('makes the stream the file', async () => {
    const { at, handlers } = await fileBench()
    const put = handlers['file.put']
    const result = await put({ path: 'd/a', mode: 0o755, sha256: sha256('abcd') }, callContext({ input: chunks('ab', 'cd') }))
    expect(result).toEqual({ path: at('d/a'), size: 4, sha256: sha256('abcd') })
    expect(await readFile(at('d/a'), 'utf8')).toBe('abcd')
    expect((await stat(at('d/a'))).mode & 0o777).toBe(0o755)
  })

  it('changes nothing when the checksum differs, the stream breaks or the call is aborted', async () => {
    const { at, handlers, workdir } = await fileBench()
    await writeFile(at('a'), 'old')
    const abort = new AbortController()
    async function* broken(): AsyncIterable<Uint8Array> {
      yield Buffer.from('part')
      throw new Error('link lost')
    }
    async function* aborted(): AsyncIterable<Uint8Array> {
      yield Buffer.from('part')
      abort.abort()
    }
    const put = handlers['file.put']
    expect((await failure(put({ path: 'a', sha256: sha256('x') }, callContext({ input: chunks('y') })))).code).toBe('protocol')
    expect((await failure(put({ path: 'a' }, callContext({ input: broken() })))).message).toContain('link lost')
    expect((await failure(put({ path: 'a' }, callContext({ input: aborted(), signal: abort.signal })))).code).toBe('cancelled')
    expect(await readFile(at('a'), 'utf8')).toBe('old')
    expect(await readdir(workdir)).toEqual(['a'])
  })
})

describe('directories', () => {
  it('tells what is at a path', async () => {
    const { at, handlers } = await fileBench()
    await mkdir(at('d'))
    await writeFile(at('f'), 'xyz')
    await symlink('f', at('link'))
    await symlink('nowhere', at('dangling'))
    const type = async (path: string) => (await handlers['file.stat']({ path }, callContext())).type
    expect(await Promise.all(['d', 'f', 'link', 'dangling', 'none', 'f/none', '/dev/null'].map(type))).toEqual([
      'directory',
      'file',
      'file',
      'symlink',
      'missing',
      'missing',
      'device',
    ])
    expect(await handlers['file.stat']({ path: 'f' }, callContext())).toMatchObject({ path: at('f'), size: 3 })
  })

  it('lists by name, up to a limit', async () => {
    const { at, handlers } = await fileBench()
    for (const name of ['b', 'a', '.c']) await writeFile(at(name), name)
    await symlink('a', at('d'))
    const list = (limit: number, path = '.') => handlers['file.list']({ path, limit }, callContext())
    const all = await list(10)
    expect(all.entries.map(entry => [entry.name, entry.type])).toEqual([
      ['.c', 'file'],
      ['a', 'file'],
      ['b', 'file'],
      ['d', 'symlink'],
    ])
    expect(all.truncated).toBe(false)
    expect(await list(2)).toMatchObject({ entries: [{ name: '.c' }, { name: 'a' }], truncated: true })
    expect((await failure(list(5, 'a'))).code).toBe('invalid_argument')
    expect((await failure(list(5, 'none'))).code).toBe('not_found')
  })

  it('makes and removes', async () => {
    const { at, handlers, workdir } = await fileBench()
    const remove = (path: string, recursive = false) => handlers['file.remove']({ path, recursive }, callContext())
    expect(await handlers['file.mkdir']({ path: 'x/y' }, callContext())).toEqual({ path: at('x/y') })
    expect((await failure(remove('x'))).code).toBe('precondition_failed')
    expect(await remove('x', true)).toEqual({ removed: true })
    expect(await remove('x')).toEqual({ removed: false })
    await writeFile(at('f'), 'x')
    await symlink('f', at('link'))
    expect(await remove('link')).toEqual({ removed: true })
    expect(await readdir(workdir)).toEqual(['f'])
    expect((await failure(remove('.', true))).code).toBe('invalid_argument')
    expect((await failure(remove('/', true))).code).toBe('invalid_argument')
    expect((await failure(handlers['file.mkdir']({ path: 'f' }, callContext()))).code).toBe('already_exists')
  })
})

describe('put in the place of a known content', () => {
  it('writes only where nobody else changed the file, and nothing of two that write at once is lost', async () => {
    const { at, handlers } = await fileBench()
    const put = (text: string, replaces: string | null) =>
      handlers['file.put']({ path: 'state', replaces }, callContext({ input: chunks(text) }))
    await put('one', null)
    expect((await failure(put('other', null))).code).toBe('precondition_failed')
    await put('two', sha256('one'))
    expect((await failure(put('late', sha256('one')))).code).toBe('precondition_failed')
    const both = await Promise.allSettled([put('a', sha256('two')), put('b', sha256('two'))])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await readFile(at('state'), 'utf8')).toBe(both[0].status === 'fulfilled' ? 'a' : 'b')
    expect(await readdir(at('.'))).toEqual(['state'])
  })
})
