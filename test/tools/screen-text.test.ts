import { describe, expect, it } from 'vitest'
import { call, job, plainOutput, runResult } from './fakes.ts'
import { terminalView } from './terminal-view.ts'

const read = (terminal: ReturnType<typeof terminalView>, notices: string[] = []) =>
  call(
    'BashOutput',
    { id: 'j1' },
    { 'shell.readJob': { job: terminal.job, output: plainOutput(''), nextOffset: 0, notices, terminal } },
  )

describe('a terminal', () => {
  it('is told with its cursor, its title and what draws on it', async () => {
    const cursor = { row: 3, column: 1, visible: false }
    const view = terminalView({ lines: ['~'], cursor, title: 'vim "x"', alternate: true, scrolledOff: 9 })
    const answer = await read(view, ['A notice.'])
    expect(answer.text).toBe(
      '~\n[job j1: running; screen 100x30, full-screen program; cursor at row 3, column 1 (hidden); title "vim \\"x\\""]\n[A notice.]',
    )
    expect(answer.structured).toMatchObject({
      id: 'j1',
      status: 'running',
      screen: { columns: 100, rows: 30, cursor, title: 'vim "x"', alternate: true },
      output: answer.text,
    })
  })

  it('that is over says how it ended, and where the rest is', async () => {
    const view = terminalView({ scrolledOff: 1, skippedBytes: 2048 }, { status: 'exited', exitCode: 3, bytes: 5000 })
    expect((await read(view)).text.split('\n')).toEqual([
      '(the screen is empty)',
      '[job j1: exit code 3; screen 100x30; full log: /r/.atelier/jobs/j1/log (4.9 KB)]',
      '[1 line scrolled off at the top: BashOutput {"id": "j1", "offset": 0} reads all of the output as text]',
      '[drawn from the end of the log, without its first 2 KB]',
    ])
  })

  it('is asked for by Bash, and shown as its answer', async () => {
    const terminal = terminalView({ lines: ['Password:'] })
    const result = { ...runResult({ status: 'running', job: 'j1' }), terminal }
    const answer = await call('Bash', { command: 'ssh host', input: 'pty', size: '80x24' }, { 'shell.run': result })
    expect(answer.text).toBe(
      'Password:\n[job j1: running; screen 100x30; cursor at row 2, column 5]\n[BashInput {"id": "j1"} with text or keys types into it, KillBash ends it]',
    )
    expect(answer.asked).toEqual([
      ['shell.run', { session: 's1', command: 'ssh host', background: true, input: 'pty', terminal: { columns: 80, rows: 24 } }],
    ])
  })

  it('has a size only where there is one', async () => {
    const answer = await call('Bash', { command: 'x', input: 'pipe', size: '80x24' })
    expect(answer).toMatchObject({ isError: true, asked: [] })
    expect(answer.text).toContain('Only a terminal has a size.')
  })

  it('gives its output as text where an offset asks for it', async () => {
    const result = { job: job({ input: 'pty' }), output: plainOutput('all of it\n'), nextOffset: 10, notices: [] }
    const answer = await call('BashOutput', { id: 'j1', offset: 0 }, { 'shell.readJob': result })
    expect(answer.text).toBe('all of it\n[job j1: running; read up to byte 10]')
  })
})
