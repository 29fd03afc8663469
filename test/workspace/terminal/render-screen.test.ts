import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderScreen } from '../../../src/workspace/terminal/render-screen.ts'

const SIZE = { at: 0, columns: 20, rows: 5 }
const render = (text: string | Uint8Array, sizes = [SIZE], offset = 0) =>
  renderScreen({ bytes: typeof text === 'string' ? Buffer.from(text) : text, offset, sizes })

describe('a screen', () => {
  it('shows what was drawn where, and the cursor', async () => {
    const screen = await render('first\r\nsecond\x1b[1;10Hthere\x1b[31mred\x1b[0m')
    expect(screen).toMatchObject({
      ...{ columns: 20, rows: 5, lines: ['first    therered', 'second'], alternate: false, scrolledOff: 0 },
      cursor: { row: 1, column: 18, visible: true },
    })
  })

  it('keeps what was on the first one while a program draws on the second', async () => {
    const drawing = '$ vi\r\n\x1b[?1049h\x1b[H\x1b[2J~ drawn\x1b[?1h\x1b[?25l\x1b]0;my title\x07'
    expect(await render(drawing)).toMatchObject({
      ...{ lines: ['~ drawn'], alternate: true, applicationCursor: true, title: 'my title' },
      cursor: { visible: false },
    })
    expect(await render(`${drawing}\x1b[?25h\x1b[?1l\x1b[?1049l$ `)).toMatchObject({
      ...{ lines: ['$ vi', '$'], alternate: false, applicationCursor: false },
      cursor: { row: 2, column: 3, visible: true },
    })
  })

  it('gives wide characters two cells', async () => {
    const screen = await render('日本語x\r\n😀y\r\nè́z')
    expect(screen.lines).toEqual(['日本語x', '😀y', 'è́z'])
    expect((await render('日本語')).cursor.column).toBe(7)
    expect((await render('😀')).cursor.column).toBe(3)
    expect((await render('\x1b[1;1H日本\x1b[1;3Hx')).lines).toEqual(['日x'])
  })

  it('counts the lines that left it', async () => {
    const screen = await render(Array.from({ length: 12 }, (_, i) => `line ${i}`).join('\r\n'))
    expect(screen.lines).toEqual(['line 7', 'line 8', 'line 9', 'line 10', 'line 11'])
    expect(screen.scrolledOff).toBe(7)
  })

  it('follows the sizes that the terminal had', async () => {
    const wide = '0123456789'.repeat(3)
    const before = `${wide.slice(0, 20)}\r\n`
    const sizes = [SIZE, { at: before.length, columns: 40, rows: 8 }]
    expect(await render(`${before}${wide}`, sizes)).toMatchObject({ columns: 40, rows: 8, lines: [wide.slice(0, 20), wide] })
    expect(await render(wide, sizes, 1000)).toMatchObject({ columns: 40, lines: [wide], skippedBytes: 1000 })
    expect((await render(wide)).lines).toEqual([wide.slice(0, 20), wide.slice(20)])
  })

  it('takes any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async bytes => {
        const screen = await render(bytes)
        expect(screen.lines.length).toBeLessThanOrEqual(5)
        expect(screen.lines.join('')).not.toMatch(/[\u0000-\u001f\u007f]/)
      }),
      { numRuns: 60 },
    )
  })

  it('does not depend on how the output came in pieces', async () => {
    const text = '\x1b[1;1Hx\x1b[?1049h\x1b[2J\x1b[3;4Hüß日\x1b[?2004h\x1b[2;1Hrow two\x1b]2;t\x1b\\'.repeat(3000)
    expect(await render(text)).toMatchObject({ alternate: true, title: 't' })
    expect((await render(text)).lines).toEqual((await render(text.slice(0, text.length / 3000))).lines)
  })
})
