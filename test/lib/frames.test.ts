import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asciiJson, asciiPieces, FrameReader } from '../../src/lib/frames.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 400 })

describe('asciiJson', () => {
  it('is ASCII and means the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), anyText, (value, text) => {
        const json = asciiJson({ value, text })
        expect(json).toMatch(/^[\x20-\x7e]*$/)
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, text })))
      }),
    )
  })
})

describe('asciiPieces', () => {
  it('cuts into literals within the bound that join to the text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 40, max: 300 }), (text, maxBytes) => {
        const pieces = asciiPieces(text, maxBytes)
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(maxBytes)
        expect(pieces.map(piece => JSON.parse(piece)).join('')).toBe(text)
      }),
    )
  })
})

describe('FrameReader', () => {
  function read(chunks: Buffer[], maxLine?: number): { found: string[]; overlong: number } {
    const found: string[] = []
    const line = (text: string): number => {
      found.push(text)
      return text.startsWith('body ') ? Number(text.slice(5)) : 0
    }
    const reader = new FrameReader({ line, body: bytes => void found.push(bytes.toString('hex')) }, maxLine)
    for (const chunk of chunks) reader.push(chunk)
    return { found, overlong: reader.overlong }
  }

  it('finds the same lines and bodies however the bytes are cut', () => {
    const item = fc.oneof(
      fc.stringMatching(/^[a-z]{1,30}$/).map(text => ({ bytes: Buffer.from(`${text}\r\n`), found: [text] })),
      fc.uint8Array({ minLength: 1, maxLength: 50 }).map(data => ({
        bytes: Buffer.concat([Buffer.from(`body ${data.length}\n`), data]),
        found: [`body ${data.length}`, Buffer.from(data).toString('hex')],
      })),
    )
    fc.assert(
      fc.property(fc.array(item), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (items, cuts) => {
        const all = Buffer.concat(items.map(({ bytes }) => bytes))
        const chunks: Buffer[] = []
        for (let at = 0, turn = 0; at < all.length; turn++) {
          const end = at + (cuts[turn % cuts.length] as number)
          chunks.push(all.subarray(at, end))
          at = end
        }
        expect(read(chunks).found).toEqual(items.flatMap(({ found }) => found))
      }),
    )
  })

  it('drops a line that is too long, in bounded memory, and goes on after it', () => {
    const chunks = [Buffer.from('a\nb'), ...Array.from({ length: 50 }, () => Buffer.from('x'.repeat(20))), Buffer.from('\nc\n')]
    expect(read(chunks, 100)).toEqual({ found: ['a', 'c'], overlong: 1 })
  })

  it('reads nothing more after it was stopped', () => {
    const found: string[] = []
    const reader = new FrameReader({
      line: text => {
        found.push(text)
        reader.stop()
        return 0
      },
      body() {},
    })
    reader.push(Buffer.from('a\nb\n'))
    expect(found).toEqual(['a'])
  })
})
