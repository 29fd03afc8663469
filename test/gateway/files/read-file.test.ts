import { execFileSync, spawn } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callContext, failure, fileBench } from './harness.ts'

describe('ranges', () => {
  it('gives lines without their ends, the total and whether more follow', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), 'one\ntwo\nthree\nfour\n')
    expect(await readText('a', { limit: 2 })).toMatchObject({
      lines: ['one', 'two'],
      firstLine: 1,
      totalLines: 4,
      more: true,
      eol: 'lf',
    })
    expect(await readText('a', { offset: 3 })).toMatchObject({
      lines: ['three', 'four'],
      firstLine: 3,
      totalLines: 4,
      more: false,
    })
    expect(await readText('a', { offset: -1 })).toMatchObject({ lines: ['four'], firstLine: 4, more: false })
    expect(await readText('a', { offset: -9, limit: 1 })).toMatchObject({ lines: ['one'], firstLine: 1, more: true })
  })

  it('answers an offset past the end, an empty file and a last line without an end', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), 'one\ntwo')
    await writeFile(at('empty'), '')
    expect(await readText('a', { offset: 9 })).toMatchObject({ lines: [], firstLine: 9, totalLines: 2, more: false })
    expect(await readText('a', { offset: -1 })).toMatchObject({ lines: ['two'], firstLine: 2 })
    expect(await readText('empty')).toMatchObject({ lines: [], totalLines: 0, more: false, eol: 'none', size: 0 })
  })

  it('agrees with splitting the whole text, for any text and range', async () => {
    const { at, readText } = await fileBench()
    const text = fc.array(fc.constantFrom('a', 'é', '≤', '😀', '\n', '\r\n', ' '), { maxLength: 60 }).map(parts => parts.join(''))
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.integer({ min: -12, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (content, offset, limit) => {
          await writeFile(at('a'), content)
          const all = content.split(/\r?\n/)
          if (all.at(-1) === '') all.pop()
          const first = offset < 0 ? Math.max(0, all.length + offset) : Math.max(0, offset - 1)
          const result = await readText('a', { offset, limit })
          expect(result.lines).toEqual(all.slice(first, first + limit))
          expect(result.totalLines).toBe(all.length)
          expect(result.more).toBe(all.length > first + limit)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('reads a file that is larger than one chunk without breaking a character', async () => {
    const { at, readText } = await fileBench()
    const lines = Array.from({ length: 300_000 }, (_, i) => `${i} ≤😀é`)
    await writeFile(at('big'), `${lines.join('\n')}\n`)
    const result = await readText('big', { offset: 20_000, limit: 60_000, maxBytes: 10_000_000 })
    expect(result.lines).toEqual(lines.slice(19_999, 79_999))
    expect(result.totalLines).toBe(300_000)
  })

  it('reads the end of a large file backwards, and numbers its lines from the end', async () => {
    const { at, readText } = await fileBench()
    execFileSync('sh', ['-c', `seq -f 'line %.0f of a file that is too large to be numbered' 1 500000 > "$0"`, at('big')])
    const result = await readText('big', { offset: -3 })
    expect(result.lines.map(line => line.slice(0, 11))).toEqual(['line 499998', 'line 499999', 'line 500000'])
    expect(result).toMatchObject({ firstLine: -3, more: false })
    expect(result.totalLines).toBeUndefined()
    const head = await readText('big', { offset: 250_000, limit: 1 })
    expect(head).toMatchObject({ firstLine: 250_000, more: true })
    expect(head.lines[0]).toContain('line 250000 ')
  })
})

describe('a file without an end', () => {
  it('is read as far as it went when it was opened', async () => {
    const { at, readText } = await fileBench()
    execFileSync('sh', ['-c', 'seq 1 400000 > "$0"', at('growing')])
    const writer = spawn('sh', ['-c', 'exec yes >> "$0"', at('growing')])
    try {
      const result = await readText('growing', { offset: 400_000, limit: 1 })
      expect(result.lines).toEqual(['400000'])
    } finally {
      writer.kill('SIGKILL')
    }
  })

  it('shows the start of a line that fills a terabyte, and can be cancelled', async () => {
    const { at, readText, handlers } = await fileBench()
    execFileSync('sh', ['-c', 'seq 1 20000 > "$0"; truncate -s 1T "$0"', at('sparse')])
    const result = await readText('sparse', { offset: 20_000, limit: 2 })
    expect(result.lines[0]).toBe('20000')
    expect(result).toMatchObject({ more: true, cutLines: [20_001] })
    expect((await readText('sparse', { offset: -1 })).cutLines).toHaveLength(1)
    const params = { session: 's', path: 'sparse', offset: 20_001, limit: 2, maxBytes: 1e9, maxLineBytes: 1e9 }
    const call = new AbortController()
    setTimeout(() => call.abort(), 5)
    expect((await failure(handlers['file.read'](params, callContext({ signal: call.signal })))).code).toBe('cancelled')
  })
})

describe('limits', () => {
  it('cuts long lines at code points and says which', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), `short\n${'😀'.repeat(100)}\nend\n`)
    const result = await readText('a', { maxLineBytes: 10 })
    expect(result.lines).toEqual(['short', '😀😀', 'end'])
    expect(result.cutLines).toEqual([2])
  })

  it('does not take a carriage return for a byte too many', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), '0123456789\r\n')
    expect(await readText('a', { maxLineBytes: 10 })).toMatchObject({ lines: ['0123456789'], cutLines: [], eol: 'crlf' })
  })

  it('stops at the byte limit', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), 'aaaa\nbbbb\ncccc\n')
    expect(await readText('a', { maxBytes: 11 })).toMatchObject({
      lines: ['aaaa', 'bbbb'],
      byteLimited: true,
      more: true,
      totalLines: 3,
    })
    expect(await readText('a', { maxBytes: 2 })).toMatchObject({ lines: ['aa'], cutLines: [1], byteLimited: true })
  })

  it('takes a file of one 3 MB line', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), 'x'.repeat(3_000_000))
    const result = await readText('a')
    expect(result.lines.map(line => line.length)).toEqual([2000])
    expect(result).toMatchObject({ totalLines: 1, more: false, cutLines: [1] })
  })
})

describe('encodings', () => {
  it.each([
    ['utf-8 with mark', Buffer.from('\ufeffé\nb\n'), { encoding: 'utf-8', bom: true }],
    ['utf-16le with mark', Buffer.from('\ufeffé\nb\n', 'utf16le'), { encoding: 'utf-16le', bom: true }],
    ['utf-16be with mark', Buffer.from('\ufeffé\nb\n', 'utf16le').swap16(), { encoding: 'utf-16be', bom: true }],
    ['utf-16le without', Buffer.from('é\nb\n', 'utf16le'), { encoding: 'utf-16le', bom: false }],
    ['latin1', Buffer.from('é\nb\n', 'latin1'), { encoding: 'latin1', bom: false }],
  ])('knows %s', async (_name, bytes, form) => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), bytes)
    expect(await readText('a')).toMatchObject({ lines: ['é', 'b'], totalLines: 2, ...form })
    expect(await readText('a', { offset: -1 })).toMatchObject({ lines: ['b'], firstLine: 2, ...form })
  })

  it.each([
    ['crlf', 'a\r\nb\r\n'],
    ['mixed', 'a\nb\r\n'],
    ['cr', 'a\rb\r'],
    ['lf', 'a\nb\n'],
  ])('knows %s ends of lines', async (eol, content) => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), content)
    expect(await readText('a')).toMatchObject({ lines: ['a', 'b'], eol })
  })

  it('finds an invalid byte far into a file', async () => {
    const { at, readText } = await fileBench()
    await writeFile(at('a'), Buffer.concat([Buffer.alloc(700_000, 'abc\n'), Buffer.from([0xe9, 10])]))
    expect(await readText('a', { offset: -1 })).toMatchObject({ lines: ['é'], encoding: 'latin1' })
  })

  it('gives the head and media type of a binary file', async () => {
    const { at, read } = await fileBench()
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(2000)])
    await writeFile(at('a.png'), png)
    await writeFile(at('b.pdf'), '%PDF-1.7\nplain')
    await writeFile(at('c'), Buffer.from([1, 0, 2, 0, 0, 3]))
    expect(await read('a.png')).toEqual({
      kind: 'binary',
      path: at('a.png'),
      size: png.length,
      head: png.subarray(0, 512).toString('base64'),
      mediaType: 'image/png',
    })
    expect(await read('b.pdf')).toMatchObject({ kind: 'binary', mediaType: 'application/pdf' })
    const unknown = await read('c')
    expect(unknown.kind).toBe('binary')
    expect(unknown).not.toHaveProperty('mediaType')
  })
})

describe('what is no regular file', () => {
  it('refuses directories, pipes, sockets and devices at once', async () => {
    const { at, read } = await fileBench()
    await mkdir(at('dir'))
    execFileSync('mkfifo', [at('fifo')])
    const server = createServer().listen(at('socket'))
    await new Promise(resolve => server.once('listening', resolve))
    try {
      for (const [path, what] of [
        ['dir', 'directory'],
        ['fifo', 'named pipe'],
        ['socket', 'socket'],
        ['/dev/zero', 'device'],
        ['/dev/tty', 'device'],
      ] as const) {
        const error = await failure(read(path))
        expect(error.code, path).toBe('invalid_argument')
        expect(error.message, path).toContain(what)
      }
    } finally {
      server.close()
    }
  })

  it('reads files of /proc that claim to be empty', async context => {
    if (process.platform !== 'linux') return context.skip('there is no /proc here')
    const { readText } = await fileBench()
    const result = await readText('/proc/self/status')
    expect(result.lines[0]).toMatch(/^Name:/)
  })

  it('suggests near names for a missing file', async () => {
    const { at, read } = await fileBench()
    await writeFile(at('Config.json'), '')
    await writeFile(at('server.ts'), '')
    expect((await failure(read('config.json'))).hint).toContain(at('Config.json'))
    expect((await failure(read('server.js'))).hint).toContain(at('server.ts'))
    expect((await failure(read('servr.ts'))).hint).toContain(at('server.ts'))
    const deep = await failure(read('nowhere/deep/x'))
    expect(deep).toMatchObject({ code: 'not_found' })
    expect(deep.hint).toContain(at('').slice(0, -1))
  })

  it('says where a link leads that leads nowhere', async () => {
    const { at, read } = await fileBench()
    await symlink('nowhere/x', at('dangling'))
    expect((await failure(read('dangling'))).message).toMatch(/symbolic link.*nowhere\/x/)
  })

  it('names a forbidden file', async context => {
    if (process.getuid?.() === 0) return context.skip('root may read everything')
    const { at, read } = await fileBench()
    await writeFile(at('a'), 'x')
    await chmod(at('a'), 0)
    expect(await failure(read('a'))).toMatchObject({ code: 'permission_denied' })
  })
})

describe('paths', () => {
  it.each(['with space', 'quote\'"', 'new\nline', 'ünï', '-dash', '$(x)'])('reads %j', async name => {
    const { at, readText } = await fileBench()
    await writeFile(at(name), 'x\n')
    expect((await readText(name)).lines).toEqual(['x'])
  })

  it('keeps reads in the confine, through links too', async () => {
    const outer = await fileBench()
    const { at, workdir } = outer
    await mkdir(at('in'))
    await mkdir(at('in-evil'))
    await writeFile(at('in/a'), 'a')
    await writeFile(at('in-evil/b'), 'b')
    await symlink('../in-evil/b', at('in/link'))
    await symlink('..', at('in/up'))
    const inner = await fileBench({ workdir: at('in') })
    const confine = at('in')
    expect((await inner.readText('a', { confine })).lines).toEqual(['a'])
    for (const path of ['link', 'up/in-evil/b', '../in-evil/b', '/etc/hostname', 'up/nowhere']) {
      expect((await failure(inner.read(path, { confine }))).code, path).toBe('permission_denied')
    }
    expect((await outer.readText('in/link', { confine: workdir })).lines).toEqual(['b'])
    expect((await outer.readText('in/a', { confine: '/' })).lines).toEqual(['a'])
    const fixed = await fileBench({ workdir: at('in'), confine: at('in') })
    expect((await failure(fixed.read('link'))).code).toBe('permission_denied')
    expect((await failure(fixed.read('link', { confine: workdir }))).code).toBe('permission_denied')
  })
})
