import type { Terminal } from '@xterm/headless'

/** Where a program waits for its terminal to answer, the question is the last that it wrote. */
const LAST = 512
/** Reports of status and cursor, device attributes, modes, keyboard, version; settings; colours. */
const QUESTIONS =
  /(?:\x1b\[\??[56]n|\x1b\[[>=]?0?c|\x1b\[\??\d+\$p|\x1b\[\?u|\x1b\[>0?q|\x1b\[1[468]t|\x1bP[+$]q[^\x1b]*\x1b\\|\x1b\]1[01];\?(?:\x07|\x1b\\))+$/
const COLOURS: Readonly<Record<number, string>> = { 10: 'cccc/cccc/cccc', 11: '0000/0000/0000' }

/** How many bytes at the end of a log are questions to the terminal. */
export function trailingQuestions(bytes: Uint8Array): number {
  const end = Buffer.from(bytes.subarray(Math.max(0, bytes.length - LAST))).toString('latin1')
  return QUESTIONS.exec(end)?.[0].length ?? 0
}

/** Notes what a terminal answers from now on; gives all of it when asked. */
export function answersOf(terminal: Terminal): () => string {
  const answers: string[] = []
  terminal.onData(answer => answers.push(answer))
  for (const [number, colour] of Object.entries(COLOURS)) {
    terminal.parser.registerOscHandler(Number(number), data => {
      if (data === '?') answers.push(`\x1b]${number};rgb:${colour}\x1b\\`)
      return true
    })
  }
  return () => answers.join('')
}
