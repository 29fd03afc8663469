import { execFileSync } from 'node:child_process'
import { chmod, chown, link, lstat, mkdir, readdir, readFile, readlink, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { failure, fileBench } from './harness.ts'

const isRoot = process.getuid?.() === 0

/** Names in a directory that a failed write may have left. */
async function temporary(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter(name => name.includes('.tmp') || name.includes('.old'))
}

describe('new files', () => {
  it('makes parents, and says what was made', async () => {
    const { at, write } = await fileBench()
    expect(await write('a/b/c.txt', 'x\ny')).toEqual({
      path: at('a/b/c.txt'),
      created: true,
      bytes: 3,
      lines: 2,
      encoding: 'utf-8',
      notices: [],
    })
    expect(await readFile(at('a/b/c.txt'), 'utf8')).toBe('x\ny')
    expect((await stat(at('a/b/c.txt'))).mode & 0o777).toBe(0o666 & ~process.umask())
    expect(await temporary(at('a/b'))).toEqual([])
  })

  it('writes verbatim: ends of lines, 20 MB, nothing', async () => {
    const { at, write } = await fileBench()
    await write('crlf', 'a\r\nb\n')
    expect(await readFile(at('crlf'), 'utf8')).toBe('a\r\nb\n')
    const large = 'é'.repeat(10_000_000)
    await write('large', large)
    expect(await readFile(at('large'), 'utf8')).toBe(large)
    expect(await write('empty', '')).toMatchObject({ bytes: 0, lines: 0 })
  })

  it('expands ~ to the home directory of the link', async () => {
    const { at, handlers, workdir } = await fileBench()
    const { callContext } = await import('./harness.ts')
    await handlers['file.write']({ session: 's', path: '~/a', content: 'x' }, callContext({ env: { HOME: workdir } }))
    expect(await readFile(at('a'), 'utf8')).toBe('x')
  })
})

describe('existing files', () => {
  it('must have been read, and unchanged since', async () => {
    const { at, write, readText } = await fileBench()
    await writeFile(at('a'), 'old')
    const unread = await failure(write('a', 'new'))
    expect(unread).toMatchObject({ code: 'precondition_failed' })
    expect(unread.message).toContain('has not been read')
    await readText('a', { limit: 1 })
    await writeFile(at('a'), 'oLd')
    expect((await failure(write('a', 'new'))).message).toContain('changed since')
    await readText('a')
    expect(await write('a', 'new')).toMatchObject({ created: false })
    await write('a', 'again without a read')
    expect(await readFile(at('a'), 'utf8')).toBe('again without a read')
  })

  it('takes a touched file with the same content as unchanged', async () => {
    const { at, write, readText } = await fileBench()
    await writeFile(at('a'), 'old')
    await readText('a')
    await utimes(at('a'), new Date(), new Date(Date.now() + 60_000))
    expect(await write('a', 'new')).toMatchObject({ created: false })
  })

  it('keeps what each session has read apart, and forgets it when told', async () => {
    const { at, write, readText, service } = await fileBench()
    await writeFile(at('a'), 'old')
    await readText('a', { session: 'one' })
    expect((await failure(write('a', 'new', { session: 'two' }))).code).toBe('precondition_failed')
    await readText('a', { session: 'two' })
    service.forgetSession('one')
    expect((await failure(write('a', 'new', { session: 'one' }))).code).toBe('precondition_failed')
    expect(await write('a', 'new', { session: 'two' })).toMatchObject({ created: false })
    service.reset()
    expect((await failure(write('a', 'x', { session: 'two' }))).code).toBe('precondition_failed')
    expect(await write('a', 'x', { session: 'two', force: true })).toMatchObject({ created: false })
  })

  it('is not written with half a character in it', async () => {
    const { at, write, edit, read } = await fileBench()
    expect((await failure(write('a', 'x\ud800y'))).code).toBe('invalid_argument')
    await writeFile(at('a'), 'a😀b')
    await read('a')
    expect((await failure(edit('a', '\ud83d', 'x'))).code).toBe('invalid_argument')
    expect(await readFile(at('a'), 'utf8')).toBe('a😀b')
  })

  it('may be overwritten unread when empty', async () => {
    const { at, write } = await fileBench()
    await writeFile(at('a'), '')
    expect(await write('a', 'x')).toMatchObject({ created: false, bytes: 1 })
  })

  it('compares what is too large to hash by its stat', async () => {
    const { at, write, readText } = await fileBench()
    await writeFile(at('a'), Buffer.alloc(17 * 1024 * 1024, 'x\n'))
    await readText('a', { limit: 1 })
    expect(await write('a', 'small')).toMatchObject({ bytes: 5 })
    await writeFile(at('a'), Buffer.alloc(17 * 1024 * 1024, 'x\n'))
    await readText('a', { limit: 1 })
    await writeFile(at('a'), Buffer.alloc(17 * 1024 * 1024, 'y\n'))
    expect((await failure(write('a', 'small'))).code).toBe('precondition_failed')
  })

  it('keep their mode', async () => {
    const { at, write } = await fileBench()
    await writeFile(at('a'), 'x')
    await chmod(at('a'), 0o751)
    await write('a', 'y', { force: true })
    expect((await stat(at('a'))).mode & 0o7777).toBe(0o751)
  })

  it('keep their owner', async context => {
    if (!isRoot) return context.skip('only root may give a file away')
    const { at, write } = await fileBench()
    await writeFile(at('a'), 'x')
    await chown(at('a'), 12345, 23456)
    await write('a', 'y', { force: true })
    expect(await stat(at('a'))).toMatchObject({ uid: 12345, gid: 23456 })
  })

  it('are written through links, and keep their hard links', async () => {
    const { at, write } = await fileBench()
    await writeFile(at('real'), 'x')
    await symlink('real', at('soft'))
    await write('soft', 'through', { force: true })
    expect(await readlink(at('soft'))).toBe('real')
    expect(await readFile(at('real'), 'utf8')).toBe('through')
    await symlink('missing', at('dangling'))
    expect(await write('dangling', 'made')).toMatchObject({ created: true })
    expect(await readFile(at('missing'), 'utf8')).toBe('made')
    await link(at('real'), at('hard'))
    await write('hard', 'much longer than what was there', { force: true })
    expect(await readFile(at('real'), 'utf8')).toBe('much longer than what was there')
    await write('hard', 'short', { force: true })
    expect(await readFile(at('real'), 'utf8')).toBe('short')
    expect((await lstat(at('hard'))).nlink).toBe(2)
  })

  it.each([
    ['utf-16le', Buffer.from('\ufeffold', 'utf16le'), Buffer.from('\ufeffneu≤', 'utf16le')],
    ['utf-16be', Buffer.from('\ufeffold', 'utf16le').swap16(), Buffer.from('\ufeffneu≤', 'utf16le').swap16()],
    ['utf-8', Buffer.from('\ufeffold'), Buffer.from('\ufeffneu≤')],
  ])('keep their encoding: %s', async (encoding, before, after) => {
    const { at, write } = await fileBench()
    await writeFile(at('a'), before)
    expect(await write('a', 'neu≤', { force: true })).toMatchObject({ encoding, notices: [] })
    expect(await readFile(at('a'))).toEqual(after)
  })

  it('become UTF-8, with a notice, where latin1 cannot hold the text', async () => {
    const { at, write } = await fileBench()
    await writeFile(at('a'), Buffer.from('é', 'latin1'))
    await write('a', 'üé', { force: true })
    expect(await readFile(at('a'))).toEqual(Buffer.from('üé', 'latin1'))
    const result = await write('a', 'ü≤', { force: true })
    expect(result.notices[0]).toContain('latin1')
    expect(await readFile(at('a'), 'utf8')).toBe('ü≤')
  })
})

describe('what cannot be written', () => {
  it('refuses directories, devices, paths through files and outside of the confine', async () => {
    const { at, write } = await fileBench()
    await mkdir(at('dir'))
    await writeFile(at('file'), 'x')
    expect((await failure(write('dir', 'x'))).message).toContain('directory')
    expect((await failure(write('/dev/null', 'x', { force: true }))).message).toContain('device')
    expect((await failure(write('file/below', 'x'))).code).toBe('invalid_argument')
    await symlink('/tmp', at('dir/out'))
    expect((await failure(write('dir/out/new', 'x', { confine: at('dir') }))).code).toBe('permission_denied')
    await symlink('/tmp/atelier-nowhere', at('dir/dangling'))
    expect((await failure(write('dir/dangling', 'x', { confine: at('dir') }))).code).toBe('permission_denied')
  })

  it('leaves the old content and no rest on a full disk', async context => {
    const bench = await fileBench()
    await mkdir(bench.at('disk'))
    if (!mounted(['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', bench.at('disk')]))
      return context.skip('a small tmpfs cannot be mounted here')
    try {
      await bench.write('disk/a', 'old content')
      await writeFile(bench.at('disk/hard'), 'old hard')
      await link(bench.at('disk/hard'), bench.at('disk/hard2'))
      expect(await failure(bench.write('disk/a', 'x'.repeat(3_000_000)))).toMatchObject({ code: 'no_space' })
      expect(await failure(bench.write('disk/hard', 'x'.repeat(3_000_000), { force: true }))).toMatchObject({ code: 'no_space' })
      expect(await failure(bench.write('disk/new', 'x'.repeat(3_000_000)))).toMatchObject({ code: 'no_space' })
      expect(await readFile(bench.at('disk/a'), 'utf8')).toBe('old content')
      expect(await readFile(bench.at('disk/hard2'), 'utf8')).toBe('old hard')
      expect((await readdir(bench.at('disk'))).sort()).toEqual(['a', 'hard', 'hard2'])
      // Room for the staged copy, none for the growth of the file itself: what was overwritten is put back.
      await writeFile(bench.at('disk/filler'), 'x'.repeat(500_000))
      expect(await failure(bench.write('disk/hard', 'y'.repeat(400_000), { force: true }))).toMatchObject({ code: 'no_space' })
      expect(await readFile(bench.at('disk/hard2'), 'utf8')).toBe('old hard')
      expect((await readdir(bench.at('disk'))).sort()).toEqual(['a', 'filler', 'hard', 'hard2'])
    } finally {
      execFileSync('umount', [bench.at('disk')])
    }
  })

  it('writes a bind-mounted file in place', async context => {
    const { at, write } = await fileBench()
    await writeFile(at('outside'), 'old')
    await writeFile(at('inside'), '')
    if (!mounted(['--bind', at('outside'), at('inside')])) return context.skip('a file cannot be bind-mounted here')
    try {
      await write('inside', 'new content', { force: true })
      expect(await readFile(at('outside'), 'utf8')).toBe('new content')
    } finally {
      execFileSync('umount', [at('inside')])
    }
  })

  it('says that a file system is read-only', async context => {
    const { at, write } = await fileBench()
    await mkdir(at('disk'))
    if (!mounted(['-t', 'tmpfs', '-o', 'size=1m,ro', 'tmpfs', at('disk')])) return context.skip('a tmpfs cannot be mounted here')
    try {
      const error = await failure(write('disk/a', 'x'))
      expect(error).toMatchObject({ code: 'permission_denied' })
      expect(error.message).toContain('read-only')
      const below = await failure(write('disk/new/folder/a', 'x'))
      expect(below.code).toBe('permission_denied')
      expect(below.message).toContain('read-only')
    } finally {
      execFileSync('umount', [at('disk')])
    }
  })
})

function mounted(args: readonly string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
