import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, lines, plainOutput, runResult } from './fakes.ts'

const bash = (result: unknown, args: Record<string, unknown> = {}) =>
  call('Bash', { command: 'x', ...args }, { 'shell.run': result })

describe('Bash', () => {
  it('gives the output of a command, its exit code and its duration', async () => {
    const answer = await bash(runResult(), { description: 'say hi', timeout: 5_000 })
    expect(answer.text).toBe('hi\n[exit code 0, after 12 ms]')
    expect(answer.isError).toBe(false)
    expect(answer.structured).toEqual({ status: 'exited', exitCode: 0, durationMs: 12, cwd: '/work', output: answer.text })
    expect(answer.asked).toEqual([
      ['shell.run', { session: 's1', command: 'x', background: false, input: 'none', timeoutMs: 5_000 }],
    ])
  })

  it.each([
    ['an exit code', { exitCode: 3 }, 'hi\n[exit code 3, after 12 ms]', false],
    ['an exit code after long', { exitCode: 3, durationMs: 12_345 }, 'hi\n[exit code 3, after 12.3 s]', false],
    ['a long duration', { durationMs: 61_000 }, 'hi\n[exit code 0, after 1 min]', false],
    ['no output', { output: plainOutput('') }, '(no output)\n[exit code 0, after 12 ms]', false],
    ['a signal', { status: 'signaled', signal: 'SIGSEGV' }, 'hi\n[ended by SIGSEGV, after 12 ms]', false],
    [
      'a time-out',
      { status: 'timed_out', durationMs: 2_004 },
      'hi\n[timed out after 2 s; the command and everything it started were ended. Allow more with timeout, or use run_in_background]',
      true,
    ],
    [
      'a cancellation',
      { status: 'cancelled' },
      'hi\n[cancelled after 12 ms; the command and everything it started were ended]',
      true,
    ],
    [
      'a command that never ran',
      { status: 'not_run', output: plainOutput(''), notices: ['The directory /work/x is gone: not run.'], cwd: '/' },
      '[The directory /work/x is gone: not run.]',
      true,
    ],
    ['one without a reason', { status: 'not_run', output: plainOutput('') }, '[the command was not run]', true],
    ['an end that nobody saw', { status: 'unknown' }, 'hi\n[nobody saw how the command ended: its exit code is unknown]', false],
    ['another directory', { cwd: '/work/sub' }, 'hi\n[exit code 0, after 12 ms]\n[cwd: /work/sub]', false],
    [
      'notices',
      { notices: ['Out of memory: a process was killed.'] },
      'hi\n[exit code 0, after 12 ms]\n[Out of memory: a process was killed.]',
      false,
    ],
  ] as const)('tells %s', async (_name, fields, text, isError) => {
    const answer = await bash(runResult(fields as object))
    expect(answer.text).toBe(text)
    expect(answer.isError).toBe(isError)
  })

  it('tells how to follow a command that goes on', async () => {
    const output = { ...plainOutput('part\n'), log: '/r/log' }
    const answer = await bash(runResult({ status: 'running', job: 'j1', durationMs: 45_000, output }))
    expect(answer.text).toBe(
      lines(
        'part',
        '[still running after 45 s, goes on in the background as job j1: BashOutput {"id": "j1"} reads on, KillBash ends it; log: /r/log]',
      ),
    )
    expect(answer.isError).toBe(false)
    expect(answer.structured).toMatchObject({ status: 'running', job: 'j1', log: '/r/log' })
  })

  it('starts in the background, with an open stdin too', async () => {
    const started = runResult({ status: 'running', job: 'j1', output: plainOutput('') })
    const answer = await bash(started, { run_in_background: 'true' })
    expect(answer.text).toBe('[running in the background as job j1: BashOutput {"id": "j1"} reads on, KillBash ends it]')
    expect(answer.asked[0]![1]).toMatchObject({ background: true, input: 'none' })
    const open = await bash(started, { input: 'pipe' })
    expect(open.text).toBe(`${answer.text}\n[BashInput {"id": "j1", "text": …} writes to its stdin]`)
    expect(open.asked[0]![1]).toMatchObject({ background: true, input: 'pipe' })
  })

  it('lists children that were left behind', async () => {
    const answer = await bash(runResult({ leftover: { job: 'j2', pids: [41, 42] } }))
    expect(answer.text).toBe(
      lines(
        'hi',
        '[exit code 0, after 12 ms]',
        '[processes that the command started still run (pid 41, 42), as job j2: BashOutput {"id": "j2"} reads on, KillBash ends it]',
      ),
    )
    expect(answer.structured).toMatchObject({ job: 'j2' })
  })

  it('says what was left out, where it is and how to read on', async () => {
    const output = { head: 'a\nb\n', tail: 'y\nz\n', omittedBytes: 5_000, totalBytes: 5_008, totalLines: 1_000, log: '/r/log' }
    expect((await bash(runResult({ output }))).text).toBe(
      lines(
        'a',
        'b',
        '[… 996 lines (4.9 KB) omitted; full log: /r/log (4.9 KB, 1000 lines); read on with Read {"file_path": "/r/log", "offset": 3}, or search it with Grep]',
        'y',
        'z',
        '[exit code 0, after 12 ms]',
      ),
    )
  })

  it('drops the beginning of a line that was cut off, but not of a long one', async () => {
    const output = { head: 'a\nb', tail: 'z\n', omittedBytes: 5_000, totalBytes: 5_008, totalLines: 9, log: '/r/log' }
    const short = await bash(runResult({ output }))
    expect(short.text).toMatch(/^a\n\[… 7 lines \(4\.9 KB\) omitted; .* "offset": 2\}/)
    const long = await bash(runResult({ output: { ...output, head: `a\n${'b'.repeat(300)}` } }))
    expect(long.text).toMatch(/^a\nb{300}\n\[… 7 lines \(4\.9 KB\) omitted; .* "offset": 2\}/)
  })

  it('says when the log stops early, or there is none', async () => {
    const output = {
      head: 'a\n',
      tail: 'z\n',
      omittedBytes: 5_000_000_000,
      totalBytes: 5_000_000_004,
      totalLines: 9,
      log: '/r/log',
    }
    const capped = await bash(runResult({ output: { ...output, logTruncatedAt: 1024 ** 3 } }))
    expect(capped.text).toContain('full log: /r/log (4.7 GB, 9 lines, of which the log holds the first 1 GB)')
    const { log: _, ...unkept } = output
    expect((await bash(runResult({ output: unkept }))).text).toContain(
      '[… 7 lines (4.7 GB) omitted; not kept in a log (4.7 GB, 9 lines in all)]',
    )
  })

  it('shows an error with its next step', async () => {
    const answer = await bash(new WorkspaceError('environment_lost', 'The container "demo" was stopped.'))
    expect(answer.isError).toBe(true)
    expect(answer.text).toBe('The container "demo" was stopped.\nCall again: the environment is restarted by the next call.')
  })
})
