import { describe, expect, it } from 'vitest'
import { call } from './fakes.ts'
import { terminalView } from './terminal-view.ts'

describe('BashInput', () => {
  it('sends text as it is, and closes stdin', async () => {
    const answer = await call('BashInput', { id: 'j1', text: 'yes\n', eof: true }, { 'shell.inputJob': { bytes: 4 } })
    expect(answer.text).toBe('Sent 4 bytes to job j1. Closed stdin of job j1. BashOutput shows what it answers.')
    expect(answer.asked).toEqual([['shell.inputJob', { id: 'j1', session: 's1', data: 'yes\n', eof: true }]])
  })

  it('types into a terminal, and shows its screen', async () => {
    const terminal = terminalView({ lines: ['one', '', '  three'] })
    const answer = await call(
      'BashInput',
      { id: 'j1', text: ':w', keys: 'enter', size: '120x40' },
      { 'shell.inputJob': { bytes: 3, terminal, notices: [] } },
    )
    expect(answer.text).toBe('one\n\n  three\n[job j1: running; screen 100x30; cursor at row 2, column 5]')
    expect(answer.asked).toEqual([
      ['shell.inputJob', { id: 'j1', session: 's1', data: ':w', keys: 'enter', terminal: { columns: 120, rows: 40 } }],
    ])
  })

  it('says why a screen is not shown, and that the input was sent', async () => {
    const notices = ["The screen can't be shown: too large."]
    const answer = await call('BashInput', { id: 'j1', keys: 'up' }, { 'shell.inputJob': { bytes: 3, notices } })
    expect(answer.text).toBe("Sent 3 bytes to job j1. BashOutput shows what it answers.\n[The screen can't be shown: too large.]")
  })

  it('refuses nothing at all, and a size that is none', async () => {
    expect((await call('BashInput', { id: 'j1' })).text).toBe(
      'Nothing to send to job j1.\nGive text, or eof: true, or both; keys or size for a job with input "pty".',
    )
    expect((await call('BashInput', { id: 'j1', size: 'large' })).text).toBe(
      'The size "large" can\'t be read.\nGive columns x rows, as "120x40".',
    )
  })
})
