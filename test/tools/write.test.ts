import { describe, expect, it } from 'vitest'
import { call } from './fakes.ts'

describe('Write', () => {
  const written = { path: '/work/a', created: true, bytes: 1_536, lines: 12, encoding: 'utf-8', notices: [] }
  const write = (result: object) => call('Write', { file_path: 'a', content: '' }, { 'files.write': result })

  it('says what it made of the file', async () => {
    const answer = await write(written)
    expect(answer.text).toBe('Created /work/a (12 lines, 1.5 KB).')
    expect(answer.asked).toEqual([['files.write', { path: 'a', content: '', session: 's1' }]])
    const updated = { ...written, created: false, lines: 1, bytes: 1, encoding: 'utf-16le', notices: ['Written through a link'] }
    expect((await write(updated)).text).toBe('Updated /work/a (1 line, 1 byte, utf-16le).\n[Written through a link]')
  })
})
