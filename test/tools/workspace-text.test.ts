import { describe, expect, it } from 'vitest'
import type { JobInfo } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { call, lines, summary } from './fakes.ts'

describe('workspace_create', () => {
  it('makes or attaches, and says which', async () => {
    const made = { summary: summary(), created: true }
    const answer = await call('workspace_create', { name: 'demo', env: { A: '1' }, image: '' }, { 'directory.create': made })
    expect(answer.text).toBe('Created demo (local, running, current): /work, id id-1')
    expect(answer.asked).toEqual([['directory.create', { name: 'demo', env: { A: '1' } }]])
    const attached = await call('workspace_create', {}, { 'directory.create': { ...made, created: false } })
    expect(attached.text).toMatch(/^Attached to demo/)
  })
})

describe('workspace_list, workspace_use, workspace_status', () => {
  it('list one a line', async () => {
    const all = [
      summary(),
      summary({ id: 'id-2', name: 'other', current: false, state: 'suspended', backend: 'docker', workdir: '/workspace' }),
    ]
    expect((await call('workspace_list', {}, { 'directory.list': all })).text).toBe(
      lines('demo (local, running, current): /work, id id-1', 'other (docker, suspended): /workspace, id id-2', '[2 workspaces]'),
    )
    expect((await call('workspace_list', {}, { 'directory.list': [] })).text).toMatch(/^There are no workspaces yet/)
  })

  it('switch', async () => {
    const answer = await call('workspace_use', { workspace: 'demo' }, { 'directory.use': summary() })
    expect(answer.text).toBe('Now current: demo (local, running): /work, id id-1')
    expect(answer.asked).toEqual([['directory.use', 'demo']])
  })

  it('name the jobs, running ones first, then what ended last', async () => {
    const job = (id: string, more: Partial<JobInfo>): JobInfo => ({
      ...{ id, command: `run ${id}`, status: 'exited', startedAt: '', log: '', bytes: 0, input: 'none', kind: 'command' },
      ...more,
    })
    const jobs = [
      job('first', { exitCode: 0, endedAt: '2026-01-01T00:00:00Z' }),
      job('last', { exitCode: 42, endedAt: '2026-01-02T00:00:00Z' }),
      job('busy', { status: 'running' }),
    ]
    const use = { jobsRunning: 1, serversRunning: 0, jobs, limits: {} }
    const { text } = await call('workspace_status', {}, { 'directory.status': { summary: summary(), use } })
    expect(text).toContain(
      lines('jobs: 1 running', '- busy: running: run busy', '- last: exit code 42: run last', '- first: exit code 0: run first'),
    )
  })

  it('show what is known and leave out what is not', async () => {
    const use = {
      jobsRunning: 1,
      serversRunning: 2,
      memoryBytes: 1024 ** 2,
      memoryLimitBytes: 1024 ** 3,
      limits: { softLimitMs: 45_000, outputChars: 30_000, readMaxBytes: 2_048, globMaxFiles: 200, graceMs: 30_000 },
    }
    const known = summary({
      image: 'node:22',
      backend: 'docker',
      details: { container: 'abc', image: 'node:22' },
      madeByAtelier: false,
      root: '/work',
    })
    expect((await call('workspace_status', {}, { 'directory.status': { summary: known, use } })).text).toBe(
      lines(
        'demo: running (current)',
        'id: id-1',
        'backend: docker, image node:22',
        "directory: /work (the user's own)",
        "Atelier's folders: in the directory",
        'created: 2026-01-01T00:00:00Z',
        'container: abc',
        'jobs: 1 running',
        'MCP servers: 2 running',
        'memory: 1 MB of 1 GB',
        'limits: soft limit 45 s, output 30000 characters, read max 2 KB, glob max files 200',
      ),
    )
  })

  it("answer for another's workspace as for none", async () => {
    const none = new WorkspaceError('not_found', 'There is no workspace "x".')
    expect(await call('workspace_use', { workspace: 'x' }, { 'directory.use': none })).toMatchObject({ isError: true })
  })
})

describe('workspace_close', () => {
  it('says what it did', async () => {
    const closed = { summary: summary({ state: 'suspended' }), notices: ['Running jobs were ended: j1.'] }
    expect((await call('workspace_close', {}, { 'directory.close': closed })).text).toBe(
      'Closed demo. Its files stay, and the next call in it opens it again.\n[Running jobs were ended: j1.]',
    )
  })
})

describe('workspace_reset and workspace_delete', () => {
  const plan = { summary: summary(), removes: ['2 running jobs', '/work (12 MB)'], keeps: ['/home/me/project'] }

  it.each([
    ['workspace_delete', 'directory.planDelete', 'Deleting'],
    ['workspace_reset', 'directory.planReset', 'Resetting'],
  ])('%s without confirm does nothing but say what would go', async (tool, port, verb) => {
    const answer = await call(tool, { workspace: 'demo', confirm: false }, { [port]: plan })
    expect(answer.text).toBe(
      lines(
        `${verb} demo has not been done yet.`,
        'It would remove:',
        '- 2 running jobs',
        '- /work (12 MB)',
        'It would keep:',
        '- /home/me/project',
        `To do it, call ${tool} again with workspace "id-1" and confirm: true.`,
      ),
    )
    expect(answer.asked).toEqual([[port, 'demo']])
  })

  it.each([
    ['workspace_delete', 'directory.delete', 'Deleted'],
    ['workspace_reset', 'directory.reset', 'Reset'],
  ])('%s with confirm does it', async (tool, port, verb) => {
    const answer = await call(tool, { confirm: 'true' }, { [port]: { ...plan, keeps: [] } })
    expect(answer.text).toBe(lines(`${verb} demo.`, 'Removed:', '- 2 running jobs', '- /work (12 MB)'))
  })
})
