import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextScreen } from '../../src/lib/text-screen.ts'

function shown(...chunks: (string | Buffer)[]): string {
  const out: Buffer[] = []
  const screen = new TextScreen(bytes => out.push(Buffer.from(bytes)))
  for (const chunk of chunks) screen.push(Buffer.from(chunk as string))
  screen.end()
  return Buffer.concat(out).toString()
}

const ROWS: [name: string, input: string, output: string][] = [
  ['plain text', 'a\nb', 'a\nb'],
  ['CRLF', 'a\r\nb\r\n', 'a\nb\n'],
  ['colours', '\x1b[1;31mred\x1b[0m\n', 'red\n'],
  ['a title', '\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\n', 'textlink\n'],
  ['a progress bar', ' 1%\r 10%\r 100%\n', ' 100%\n'],
  ['a shorter overwrite', 'abcdef\rxy\n', 'xycdef\n'],
  ['erase to the end', 'abcdef\rxy\x1b[K\n', 'xy\n'],
  ['erase the line', 'abc\x1b[2K\rx\n', 'x  \n'],
  ['backspace', 'abd\bc\n', 'abc\n'],
  ['wide characters', 'é😀\rx\n', 'x😀\n'],
  ['an own column', 'abc\x1b[1Gx\n', 'xbc\n'],
  ['a carriage return at the end', 'abc\r', 'abc'],
  ['character sets and keypad modes', '\x1b(B\x1b=x\x1b>\n', 'x\n'],
]

describe('TextScreen', () => {
  it.each(ROWS)('shows %s', (_name, input, output) => {
    expect(shown(input)).toBe(output)
  })

  it('shows the same, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ROWS.map(row => row[1])), fc.constantFrom(...ROWS.map(row => row[1])), (a, b) => {
        const bytes = Buffer.from(`${a}\n${b}`)
        const single = Array.from(bytes, byte => Buffer.from([byte]))
        expect(shown(...single)).toBe(shown(bytes))
      }),
    )
  })

  it('changes nothing in text without controls', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter(s => !/[\r\b\x1b]/.test(s)),
        text => {
          expect(shown(text)).toBe(text)
        },
      ),
    )
  })

  it('does not hold a line without end', () => {
    let length = 0
    const screen = new TextScreen(bytes => {
      length += bytes.length
    })
    for (let i = 0; i < 100; i++) screen.push(Buffer.alloc(10_000, 'x'))
    expect(length).toBeGreaterThan(900_000)
  })

  it('goes on after a sequence that never ends', () => {
    expect(shown(`\x1b]${'x'.repeat(6000)}end\n`).endsWith('end\n')).toBe(true)
  })
})
