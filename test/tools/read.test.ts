import { describe, expect, it } from 'vitest'
import type { ReadText } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, lines } from './fakes.ts'

function textFile(fields: Partial<ReadText> = {}): ReadText {
  return {
    kind: 'text',
    path: '/work/a.txt',
    lines: ['one', '', 'three'],
    firstLine: 1,
    totalLines: 3,
    more: false,
    size: 11,
    encoding: 'utf-8',
    bom: false,
    eol: 'lf',
    cutLines: [],
    byteLimited: false,
    ...fields,
  }
}
const read = async (result: unknown, args: Record<string, unknown> = {}) =>
  call('Read', { file_path: 'a.txt', ...args }, { 'files.read': result })

describe('Read', () => {
  it('numbers lines as cat -n does and says where they stand', async () => {
    const answer = await read(textFile())
    expect(answer.text).toBe(lines('     1\tone', '     2\t', '     3\tthree', '[lines 1-3 of 3]'))
    expect(answer.asked).toEqual([['files.read', { path: 'a.txt', session: 's1' }]])
  })

  it('passes offset and limit on, also when they come as text', async () => {
    const answer = await read(textFile(), { offset: '-5', limit: '2' })
    expect(answer.asked[0]![1]).toEqual({ path: 'a.txt', session: 's1', offset: -5, limit: 2 })
  })

  it.each([
    [
      { firstLine: 101, totalLines: 5_000, more: true },
      '[lines 101-103 of 5000; more follow from line 104: read on with offset 104]',
    ],
    [
      { firstLine: 101, totalLines: undefined, more: true, byteLimited: true },
      '[lines 101-103 (stopped by the size limit); more follow from line 104: read on with offset 104]',
    ],
    [{ firstLine: 7, totalLines: undefined }, '[lines 7-9, to the end]'],
    [{ firstLine: -3, totalLines: undefined }, '[lines -3 to -1, counted from the end]'],
    [
      { firstLine: -9, totalLines: undefined, more: true },
      '[lines -9 to -7, counted from the end; more follow from line -6: read on with offset -6]',
    ],
    [
      { encoding: 'utf-16le', bom: true, eol: 'crlf' },
      '[UTF-16 LE with a byte order mark, CRLF line ends: Edit and Write keep that]',
    ],
    [{ encoding: 'latin1' }, '[Latin-1: Edit and Write keep that]'],
    [{ eol: 'mixed' }, '[mixed line ends: Edit and Write keep that]'],
    [{ cutLines: [2] }, '[line 2 is too long and cut; see the rest with Bash (cut -c) or Grep]'],
    [{ cutLines: [1, 3] }, '[lines 1, 3 are too long and cut; see the rest with Bash (cut -c) or Grep]'],
  ] as const)('says of %j: %s', async (fields, remark) => {
    expect((await read(textFile(fields as object))).text.split('\n').slice(3)).toContain(remark)
  })

  it('shows a single line as one', async () => {
    expect((await read(textFile({ lines: ['x'], totalLines: 1 }))).text).toBe(lines('     1\tx', '[line 1 of 1]'))
  })

  it('tells an empty file from a place past the end', async () => {
    expect((await read(textFile({ size: 0, lines: [], totalLines: 0 }))).text).toBe('[/work/a.txt is empty (0 bytes)]')
    expect((await read(textFile({ lines: [] }), { offset: 500 })).text).toBe('[nothing at offset 500: /work/a.txt has 3 lines]')
  })

  it('says what a binary file is and what to do with it', async () => {
    const file = {
      kind: 'binary',
      path: '/work/a.db',
      size: 12_600,
      head: Buffer.from('SQLite format 3\0\x01\xff').toString('base64'),
    }
    expect((await read(file)).text).toBe(
      lines(
        '/work/a.db is a binary file (application/vnd.sqlite3, 12.3 KB): not shown as text. It begins:',
        '00000000  53 51 4c 69 74 65 20 66 6f 72 6d 61 74 20 33 00  SQLite format 3.',
        '00000010  01 c3 bf                                         ...',
        'Query it with Bash, e.g. sqlite3 or Python.',
      ),
    )
    expect((await read({ ...file, head: 'AAEC' })).text).toContain('(unknown type, 12.3 KB)')
    expect((await read({ ...file, head: 'AAEC' })).text).toContain('xxd')
  })

  it('refuses pages of what is no PDF, saying why', async () => {
    expect((await read(textFile(), { pages: '1' })).text).toBe(
      '"pages" and "images" are for PDF files only: /work/a.txt is none.\nUse offset and limit.',
    )
    const binary = { kind: 'binary', path: '/work/a.db', size: 9, head: 'AAEC' }
    expect((await read(binary, { images: true })).text).toContain('Leave them out.')
  })

  it('hands typed errors on with their next step', async () => {
    const missing = new WorkspaceError('not_found', 'No file /work/a.txt.', { hint: 'Near names: a.text' })
    expect(await read(missing)).toMatchObject({ isError: true, text: 'No file /work/a.txt.\nNear names: a.text' })
  })
})
