import { Unicode11Addon } from '@xterm/addon-unicode11'
import { type IBuffer, Terminal } from '@xterm/headless'
import { answersOf, trailingQuestions } from './questions.ts'
import { MAX_SCROLLED_OFF, type Screen, type ScreenJob } from './screen.ts'

const PIECE = 64 * 1024
const FALLBACK = { columns: 80, rows: 24 }

/** Plays a terminal's log and gives what stands on its screen at the end. */
export async function renderScreen(job: ScreenJob): Promise<Screen> {
  const { columns, rows } = job.sizes.findLast(({ at }) => at <= job.offset) ?? job.sizes[0] ?? FALLBACK
  const terminal = new Terminal({ cols: columns, rows, scrollback: MAX_SCROLLED_OFF, allowProposedApi: true, logLevel: 'off' })
  const watched = watch(terminal)
  const questions = trailingQuestions(job.bytes)
  const asked = job.bytes.length - questions
  await play(terminal, { ...job, bytes: job.bytes.subarray(0, asked) })
  const answers = answersOf(terminal)
  await write(terminal, job.bytes.subarray(asked))
  const { active } = terminal.buffer
  const screen: Screen = {
    columns: terminal.cols,
    rows: terminal.rows,
    lines: linesOf(active, terminal),
    cursor: { row: active.cursorY + 1, column: Math.min(active.cursorX, terminal.cols - 1) + 1, visible: watched.cursor },
    title: watched.title,
    alternate: active.type === 'alternate',
    applicationCursor: terminal.modes.applicationCursorKeysMode,
    scrolledOff: terminal.buffer.normal.baseY,
    replies: answers(),
    skippedBytes: job.offset,
  }
  terminal.dispose()
  return screen
}

async function play(terminal: Terminal, { bytes, offset, sizes }: ScreenJob): Promise<void> {
  let from = 0
  for (const size of sizes) {
    if (size.at <= offset) continue
    const to = Math.min(size.at - offset, bytes.length)
    await write(terminal, bytes.subarray(from, to))
    terminal.resize(size.columns, size.rows)
    from = to
  }
  await write(terminal, bytes.subarray(from))
}

async function write(terminal: Terminal, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    await new Promise<void>(resolve => terminal.write(bytes.subarray(at, at + PIECE), resolve))
  }
}

/** What a program said that is no part of the picture. */
function watch(terminal: Terminal): { title: string; cursor: boolean } {
  const seen = { title: '', cursor: true }
  terminal.loadAddon(new Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  terminal.onTitleChange(title => {
    seen.title = title
  })
  const cursor = (visible: boolean) => (params: (number | number[])[]) => {
    if (params.includes(25)) seen.cursor = visible
    return false
  }
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, cursor(true))
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, cursor(false))
  const reset = () => {
    seen.cursor = true
    return false
  }
  terminal.parser.registerEscHandler({ final: 'c' }, reset)
  terminal.parser.registerCsiHandler({ intermediates: '!', final: 'p' }, reset)
  return seen
}

function linesOf(buffer: IBuffer, { rows }: Terminal): string[] {
  const lines: string[] = []
  for (let row = 0; row < rows; row++) {
    const text = buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? ''
    lines.push(text.replace(/[\u0000-\u001f\u007f]/g, ' ').trimEnd())
  }
  while (lines.at(-1) === '') lines.pop()
  return lines
}
