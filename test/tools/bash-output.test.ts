import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, job, lines, plainOutput } from './fakes.ts'

const read = (fields: object = {}) => ({ job: job(), output: plainOutput('new\n'), nextOffset: 104, notices: [], ...fields })
const unknown = new WorkspaceError('not_found', 'There is no job "zz".')

describe('BashOutput', () => {
  it('gives new output and how the job stands', async () => {
    const answer = await call('BashOutput', { id: 'j1', wait: '2000', filter: 'n', offset: 100 }, { 'shell.readJob': read() })
    expect(answer.text).toBe('new\n[job j1: running; read up to byte 104]')
    expect(answer.asked).toEqual([['shell.readJob', { id: 'j1', session: 's1', offset: 100, filter: 'n', waitMs: 2_000 }]])
    expect(answer.structured).toEqual({
      id: 'j1',
      status: 'running',
      nextOffset: 104,
      log: '/r/.atelier/jobs/j1/log',
      output: answer.text,
    })
  })

  it.each([
    [{ status: 'exited', exitCode: 2 }, 'exit code 2'],
    [{ status: 'signaled', signal: 'SIGKILL' }, 'ended by SIGKILL'],
    [{ status: 'timed_out' }, 'timed out and ended'],
    [{ status: 'unknown' }, 'ended, nobody saw how'],
  ] as const)('tells the end of %j', async (fields, state) => {
    const answer = await call('BashOutput', { id: 'j1' }, { 'shell.readJob': read({ job: job(fields as object) }) })
    expect(answer.text).toContain(`[job j1: ${state}; full log: /r/.atelier/jobs/j1/log (100 bytes)]`)
  })

  it('says where the rest is when a lot came', async () => {
    const output = { head: 'a\n', tail: 'z\n', omittedBytes: 2_048, totalBytes: 2_052, totalLines: 9, log: '/r/log' }
    expect((await call('BashOutput', { id: 'j1' }, { 'shell.readJob': read({ output }) })).text).toContain(
      'a\n[… 7 lines (2 KB) omitted; full log: /r/log; read on with Read {"file_path": "/r/log"}, or search it with Grep]\nz\n',
    )
  })

  it('says plainly that nothing came', async () => {
    const nothing = read({ output: plainOutput('') })
    expect((await call('BashOutput', { id: 'j1' }, { 'shell.readJob': nothing })).text).toMatch(/^\(no new output\)\n\[job j1/)
    expect((await call('BashOutput', { id: 'j1', filter: 'q' }, { 'shell.readJob': nothing })).text).toMatch(
      /^\(no new output matches the filter\)/,
    )
  })

  it('lists the jobs that there are when the id is unknown', async () => {
    const jobs = [job(), job({ id: 'j2', status: 'exited', exitCode: 0, command: `echo\n${'x'.repeat(200)}` })]
    const answer = await call('BashOutput', { id: 'zz' }, { 'shell.readJob': unknown, 'shell.jobs': jobs })
    expect(answer.isError).toBe(true)
    expect(answer.text).toBe(
      lines('There is no job "zz".', 'The jobs are:', 'j1: running: npm run dev', `j2: exit code 0: echo ${'x'.repeat(74)}…`),
    )
  })
})
