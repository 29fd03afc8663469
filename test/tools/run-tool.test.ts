import { describe, expect, it } from 'vitest'
import { call, runResult } from './fakes.ts'

const refused = async (tool: string, args: Record<string, unknown>) => {
  const answer = await call(tool, args, {})
  expect(answer.isError).toBe(true)
  expect(answer.calls).toEqual([])
  return answer.text.split('\n')
}

describe('arguments', () => {
  it('that are unknown are refused by name with the nearest one', async () => {
    expect(await refused('Bash', { command: 'x', timeuot: 5, zebra: 1 })).toEqual([
      'Unknown argument "timeuot" of Bash. Did you mean "timeout"?',
      'Unknown argument "zebra" of Bash.',
      'Arguments of Bash: command (required), description, timeout, run_in_background, input, size, workspace.',
    ])
    expect(await refused('Read', { path: 'x' })).toContain('Unknown argument "path" of Read. Did you mean "file_path"?')
    expect((await refused('Grep', { pattern: 'x', i: true }))[0]).toBe('Unknown argument "i" of Grep. Did you mean "-i"?')
    expect((await refused('workspace_list', { all: 1 }))[1]).toBe('workspace_list takes no arguments.')
  })

  it('that are missing or wrong are named with what is allowed', async () => {
    expect((await refused('Bash', {}))[0]).toBe('Missing argument "command" of Bash: text is needed.')
    expect((await refused('Bash', { command: null }))[0]).toBe('Missing argument "command" of Bash: text is needed.')
    expect((await refused('Bash', { command: undefined }))[0]).toMatch(/^Missing argument/)
    expect((await refused('Bash', { command: '' }))[0]).toBe('Argument "command" is "": text that is not empty is needed.')
    expect((await refused('Bash', { command: 'x', timeout: '5s' }))[0]).toBe(
      'Argument "timeout" is "5s": a whole number from 1 is needed.',
    )
    expect((await refused('Bash', { command: 'x', timeout: 1.5 }))[0]).toBe(
      'Argument "timeout" is 1.5: a whole number from 1 is needed.',
    )
    expect((await refused('Bash', { command: 'x', run_in_background: 'yes' }))[0]).toBe(
      'Argument "run_in_background" is "yes": true or false is needed.',
    )
    expect((await refused('Grep', { pattern: 'x', output_mode: 'contents' }))[0]).toBe(
      'Argument "output_mode" is "contents": one of "content", "files_with_matches", "count" is needed. Did you mean "content"?',
    )
    expect((await refused('workspace_create', { env: { A: 1 } }))[0]).toBe(
      'Argument "env" is {"A":1}: an object with text values is needed.',
    )
    expect((await refused('Bash', { command: 'x', workspace: 7 }))[0]).toBe('Argument "workspace" is 7: text is needed.')
    expect((await refused('Bash', { command: ['x'.repeat(500)] }))[0]!.length).toBeLessThan(160)
    expect((await refused('Write', { file_path: 'a' }))[0]).toBe('Missing argument "content" of Write: text is needed.')
  })

  it('that are null count as not given, and workspace is not passed on', async () => {
    const answer = await call('Bash', { command: 'x', timeout: null, workspace: 'demo' }, { 'shell.run': runResult() })
    expect(answer.asked).toEqual([['shell.run', { session: 's1', command: 'x', background: false, input: 'none' }]])
  })
})

describe('a failing tool', () => {
  it('throws faults of its own for the caller to log', async () => {
    await expect(call('Bash', { command: 'x' }, { 'shell.run': new TypeError('oops') })).rejects.toMatchObject({
      code: 'internal',
    })
  })

  it('answers what was cancelled as an error', async () => {
    const aborted = new DOMException('This operation was aborted', 'AbortError')
    expect(await call('Bash', { command: 'x' }, { 'shell.run': aborted })).toMatchObject({
      isError: true,
      text: 'This operation was aborted',
    })
  })

  it('names the nearest tool to one that is unknown', async () => {
    expect((await refused('bash_output', {}))[0]).toBe('There is no tool "bash_output". Did you mean "BashOutput"?')
  })
})

it('an argument that is nested without an end is refused as any other', async () => {
  const [first] = await refused('Bash', { command: JSON.parse('['.repeat(6000) + ']'.repeat(6000)) })
  expect(first).toContain('Argument "command" is [[[')
})
