import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteLines } from '../../../src/gateway/nested/byte-lines.ts'
import { readEnds, readMessages } from '../../../src/gateway/nested/read-messages.ts'
import { TextRing } from '../../../src/gateway/nested/text-ring.ts'

function collect(maxBytes: number) {
  const lines: string[] = []
  const overlong: { head: string; tail: string; bytes: number }[] = []
  const sink = {
    line: (text: string) => void lines.push(text),
    overlong: (head: string, tail: string, bytes: number) => void overlong.push({ head, tail, bytes }),
  }
  return { lines, overlong, reader: new ByteLines(sink, maxBytes) }
}

describe('lines of bytes', () => {
  it('are the same however the bytes were cut', () => {
    const text = fc.string({ unit: 'binary' }).map(each => each.replace(/\n|[\uD800-\uDFFF]/g, ''))
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.nat(20)), (given, cuts) => {
        const { lines, reader } = collect(1000)
        let bytes = Buffer.from(given.map(line => `${line}\n`).join(''))
        for (const cut of cuts) {
          reader.push(bytes.subarray(0, cut))
          bytes = bytes.subarray(cut)
        }
        reader.push(bytes)
        expect(lines).toEqual(given)
      }),
    )
  })

  it('drops what is too long, tells its ends, and goes on', () => {
    const { lines, overlong, reader } = collect(5000)
    reader.push(Buffer.from('{"jsonrpc":"2.0","id":17,"result":"'))
    for (let part = 0; part < 100; part++) reader.push(Buffer.alloc(100, 'x'))
    reader.push(Buffer.from('"}\nnext\nlast'))
    reader.end()
    expect(lines).toEqual(['next', 'last'])
    expect(overlong).toHaveLength(1)
    expect(overlong[0]).toMatchObject({ bytes: 10_037 })
    expect(readEnds(overlong[0]?.head ?? '', overlong[0]?.tail ?? '')).toEqual({ kind: 'answer', id: 17 })
  })

  it('takes 30 MB in small pieces in no more than linear time', () => {
    const { lines, reader } = collect(64 * 1024 * 1024)
    const piece = Buffer.alloc(1024, 'y')
    const start = performance.now()
    for (let part = 0; part < 30_000; part++) reader.push(piece)
    reader.push(Buffer.from('\n'))
    expect(lines[0]).toHaveLength(30_720_000)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe('messages in a line', () => {
  it('are told from noise', () => {
    expect(readMessages('{"jsonrpc":"2.0","id":1,"result":{}}')).toHaveLength(1)
    expect(readMessages('[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":2,"error":{}}]')).toHaveLength(2)
    for (const noise of ['', 'Listening…', '{"level":"info"}', '[1,2]', '{broken', '"text"', 'null'])
      expect(readMessages(noise), noise).toEqual([])
  })

  it.each([
    ['{"id":"3","result":{', '', { kind: 'answer', id: '3' }],
    ['{"id":3,"result":{"method":"x"', '', { kind: 'answer', id: 3 }],
    ['{"result":{"params":', '},"id":4,"jsonrpc":"2.0"}', { kind: 'answer', id: 4 }],
    ['{"result":{"text":"', '"}}', { kind: 'answer' }],
    ['{"jsonrpc":"2.0","id":3,"method":"x","params":{', '}}', { kind: 'request', id: 3 }],
    ['{"jsonrpc":"2.0","method":"x","id":"a","params":{', '}}', { kind: 'request', id: 'a' }],
    ['{"method":"x","params":{"id":9,', '"}},"jsonrpc":"2.0","id":5}', { kind: 'request', id: 5 }],
    ['{"method":"x","params":{', '"id":9}},"jsonrpc":"2.0"}', { kind: 'notification' }],
    ['{"jsonrpc":"2.0","params":{', '},"method":"x"}', { kind: 'notification' }],
    ['no message', 'at all', { kind: 'answer' }],
  ])('are known by their two ends: %s … %s', (head, tail, known) => {
    expect(readEnds(head, tail)).toEqual(known)
  })
})

describe('the ring of what a server wrote', () => {
  it('keeps the end, from the beginning of a line', () => {
    const ring = new TextRing(100)
    for (let line = 0; line < 1000; line++) ring.add(`line ${line}\n`)
    expect(ring.text).toHaveLength(100)
    expect(ring.tail(30)).toBe('line 997\nline 998\nline 999')
  })
})
