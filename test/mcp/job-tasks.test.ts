import { describe, expect, it } from 'vitest'
import type { JobInfo } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import type { Scope } from '../../src/manager/scope.ts'
import type { ToolContext } from '../../src/tools/tool.ts'
import type { Shell } from '../../src/workspace/ports.ts'
import { fakeWatches, fakeWorkspace, openClient } from './support.ts'

const META = { 'atelier/agent': 'a', 'atelier/session': 's', 'atelier/structured': true, progressToken: 7 }
const RUNNING = { id: 'j1', status: 'running', startedAt: '2026-01-01T00:00:00Z' } as JobInfo
const ENDED = { ...RUNNING, status: 'exited', exitCode: 0, endedAt: '2026-01-01T00:00:01Z' } as JobInfo
const KILLED = { ...ENDED, status: 'signaled', signal: 'SIGKILL' } as unknown as JobInfo
const turns = () => new Promise(resolve => setTimeout(resolve, 5))

interface Task {
  taskId: string
  status: string
}

/** A client on w1, whose one job is as `state` says, and on w2, whose jobs can't be listed. */
function bench() {
  const { watches } = fakeWatches()
  const state = { job: RUNNING, lost: false, killJob: (async () => KILLED) as Shell['killJob'], asked: 0 }
  const jobs = async () => {
    state.asked += 1
    return [state.job]
  }
  const shell = { jobs, killJob: (...args: Parameters<Shell['killJob']>) => state.killJob(...args) } as unknown as Shell
  const w1 = Object.defineProperty(fakeWorkspace({ id: 'w1', watches, shell }), 'lost', { get: () => state.lost })
  const failing = async () => {
    throw new WorkspaceError('environment_lost', 'it is gone')
  }
  const w2 = fakeWorkspace({ id: 'w2', shell: { ...shell, jobs: failing } })
  const scopes: Scope[] = []
  const calls: { name: string; context: ToolContext }[] = []
  const find = (id: string | undefined) => (id === 'w2' ? w2 : w1)
  const client = openClient({
    manager: {
      acquire: async (scope, { ref } = {}) => {
        scopes.push(scope)
        const release = () => {}
        return { workspace: find(ref), release, [Symbol.dispose]: release }
      },
      opened: find,
      defaultId: async () => 'w1',
    },
    run: async (name, _args, context) => {
      await context.workspace()
      calls.push({ name, context })
      return { text: name, structured: { job: 'j1' } }
    },
  })
  const start = async (args: object = {}) => {
    const call = { name: 'Bash', arguments: { command: 'true', ...args }, task: {}, _meta: META }
    return (await client.request('tools/call', call)).result as { task: Task }
  }
  return { client, state, scopes, calls, start }
}

describe('tasks', () => {
  it('keep whose call it is in the calls inside, without its form and progress', async () => {
    const { client, state, scopes, calls, start } = bench()
    const { task } = await start()
    state.job = ENDED
    const { result } = await client.request('tasks/result', { taskId: task.taskId, _meta: META })
    expect(result).toMatchObject({ content: [{ text: 'BashOutput' }] })
    expect(result).not.toHaveProperty('structuredContent')
    expect(calls.map(({ name, context }) => [name, context.agent, context.conversation, context.onProgress])).toEqual([
      ['Bash', 'a', 's', undefined],
      ['BashOutput', 'a', 's', undefined],
    ])
    expect(new Set(scopes.map(scope => JSON.stringify(scope)))).toEqual(
      new Set([JSON.stringify({ user: 'u', agent: 'a', session: 's' })]),
    )
  })

  it('tell the end of a command that ended before anybody listened, after the answer', async () => {
    const { client, state, start } = bench()
    state.job = ENDED
    const { task } = await start()
    expect(client.notifications('notifications/tasks/status')).toEqual([])
    await turns()
    expect(client.notifications('notifications/tasks/status')).toMatchObject([
      { params: { taskId: task.taskId, status: 'completed' } },
    ])
  })

  it('are listed without those of a workspace that fails, and without starting one that is lost', async () => {
    const { client, state, start } = bench()
    const { task } = await start()
    await client.request('tools/call', { name: 'Read', arguments: { workspace: 'w2' } })
    expect((await client.request('tasks/list')).result).toMatchObject({ tasks: [{ taskId: task.taskId }] })
    await turns()
    const { asked } = state
    state.lost = true
    expect((await client.request('tasks/list')).result).toEqual({ tasks: [] })
    expect(state.asked).toBe(asked)
  })

  it('are cancelled only where their job could be ended', async () => {
    const { client, state, start } = bench()
    const { taskId } = (await start()).task
    state.killJob = async () => {
      throw new WorkspaceError('environment_lost', 'it is gone')
    }
    expect((await client.request('tasks/cancel', { taskId })).error?.message).toContain('it is gone')
    state.job = KILLED
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject({ status: 'failed' })
    state.job = RUNNING
    state.killJob = async () => KILLED
    expect((await client.request('tasks/cancel', { taskId })).result).toMatchObject({ status: 'cancelled' })
  })
})
