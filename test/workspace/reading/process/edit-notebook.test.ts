import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editNotebook } from '../../../../src/workspace/reading/process/edit-notebook.ts'
import { notebook } from '../../../support/documents.ts'

const edit = (text: string, oldString: string, newString: string, replaceAll = false) =>
  editNotebook(Buffer.from(text), { kind: 'notebook-edit', size: 0, oldString, newString, replaceAll })
/** The text after the change, made as the gateway makes it: `from` must occur once. */
function applied(text: string, change: { from: string; to: string } | undefined): string {
  const at = text.indexOf(change?.from ?? '\0')
  expect(at).toBeGreaterThanOrEqual(0)
  expect(text.indexOf(change?.from ?? '\0', at + 1)).toBe(-1)
  return text.slice(0, at) + change?.to + text.slice(at + (change?.from.length ?? 0))
}
const asLines = (source: string): string[] => source.match(/[^\n]*\n|[^\n]+$/g) ?? []

const sources = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '"', '\\', '\n', '日', '😀', '\t', ' ', '{', ']') }), {
  minLength: 1,
  maxLength: 6,
})
const forms = fc.constantFrom({ indent: 1 }, { indent: 4, end: '' }, { indent: undefined, end: '' })

describe('any edit of any notebook', () => {
  it('gives the file that a writer of the new cells would have made', () => {
    fc.assert(
      fc.property(
        sources,
        forms,
        fc.nat(),
        fc.string({ unit: fc.constantFrom('n', '\n', '"', 'ü', '😀') }),
        (given, form, pick, added) => {
          const index = pick % given.length
          // A mark that no other source has, so that there is one place.
          const marked = given.map((source, at) => (at === index ? `${source}§${source}` : source))
          const cells = (all: string[]) => all.map((source, at) => ({ id: `c${at}`, source: asLines(source) }))
          const text = notebook(cells(marked), form)
          const after = applied(text, edit(text, '§', `${added}!`))
          const wanted = marked.map((source, at) => (at === index ? source.replace('§', () => `${added}!`) : source))
          expect(after).toBe(notebook(cells(wanted), form))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('of all occurrences changes each cell that has one', () => {
    fc.assert(
      fc.property(sources, forms, (given, form) => {
        fc.pre(given.some(source => source.includes('a')))
        const cells = (all: string[]) => all.map(source => ({ source: asLines(source) }))
        const text = notebook(cells(given), form)
        const change = edit(text, 'a', 'bb\n', true)
        expect(change?.replacements).toBe(given.join('').split('a').length - 1)
        const after = JSON.parse(applied(text, change)).cells.map((cell: { source: string[] }) => cell.source.join(''))
        expect(after).toEqual(given.map(source => source.replaceAll('a', 'bb\n')))
      }),
      { numRuns: 200 },
    )
  })
})

describe('a notebook of odd form', () => {
  it('keeps it', () => {
    const text = '{"nbformat":4, "cells" : [ {"source":[ "a\\u00e9\\n" ,"b\\/c" ] , "x":"source"},{"source":"t"} ]}'
    expect(applied(text, edit(text, 'b/c', 'b/d\nnew'))).toBe(
      '{"nbformat":4, "cells" : [ {"source":[ "a\\u00e9\\n" ,"b/d\\n" ,"new" ] , "x":"source"},{"source":"t"} ]}',
    )
    expect(applied(text, edit(text, 'aé\n', ''))).toContain('{"source":[ "b\\/c" ] , "x":"source"}')
  })

  it.each([
    ['a list of lines', ['one\r\n', 'two\r\n', 'three']],
    ['a text', 'one\r\ntwo\r\nthree'],
  ])('keeps the ends of the lines of a source that is %s', (_form, source) => {
    const text = notebook([{ source: 'two\n' }, { source }])
    const after = applied(text, edit(text, 'one\ntwo', 'ONE\nnew\nTWO'))
    const wanted = 'ONE\r\nnew\r\nTWO\r\nthree'
    expect(JSON.parse(after).cells[1].source).toEqual(typeof source === 'string' ? wanted : asLines(wanted))
    expect(JSON.parse(after).cells[0]).toEqual(JSON.parse(text).cells[0])
    expect(() => edit(text, 'two\n', 'x')).toThrow('occurs 2 times')
  })

  it('with mixed ends keeps those of the lines around the change', () => {
    const text = notebook([{ source: ['a\n', 'b\r\n', 'c\r\n', 'd\n', 'e'] }])
    expect(JSON.parse(applied(text, edit(text, 'b\nc', 'b\nx\nc'))).cells[0].source.join('')).toBe('a\nb\r\nx\r\nc\r\nd\ne')
    expect(JSON.parse(applied(text, edit(text, 'd\r\ne', 'f\r\ng'))).cells[0].source.join('')).toBe('a\nb\r\nc\r\nf\ng')
  })

  it('with a key twice is refused', () => {
    const text = '{"nbformat":4,"cells":[{"source":"a","source":"ab"}]}'
    expect(() => edit(text, 'ab', 'c')).toThrow("can't be edited cell by cell")
  })
})
