import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, job } from './fakes.ts'

const unknown = new WorkspaceError('not_found', 'There is no job "zz".')

describe('KillBash', () => {
  it('tells how the job ended', async () => {
    const ended = job({ status: 'signaled', signal: 'SIGTERM' })
    const answer = await call('KillBash', { id: 'j1' }, { 'shell.killJob': ended })
    expect(answer.text).toBe('Job j1 is over: ended by SIGTERM. Log: /r/.atelier/jobs/j1/log')
    expect(answer.asked).toEqual([['shell.killJob', { id: 'j1' }]])
  })

  it('takes signals by short names and says when the job goes on', async () => {
    const answer = await call('KillBash', { id: 'j1', signal: 'int' }, { 'shell.killJob': job() })
    expect(answer.text).toContain('Job j1 got SIGINT and is still running.')
  })

  it('refuses an unknown signal with the nearest one, and an unknown job', async () => {
    expect((await call('KillBash', { id: 'j1', signal: 'SIGTREM' })).text).toMatch(
      /^Unknown signal "SIGTREM"\. Did you mean SIGTERM\?\nThe signals are: /,
    )
    expect((await call('KillBash', { id: 'zz' }, { 'shell.killJob': unknown, 'shell.jobs': [] })).text).toBe(
      'There is no job "zz".\nThere are no jobs.',
    )
  })
})
