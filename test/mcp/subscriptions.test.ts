import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import type { Manager } from '../../src/manager/manager.ts'
import type { SessionState } from '../../src/mcp/session-context.ts'
import type { Watches } from '../../src/workspace/watches.ts'
import { fakeWatches, fakeWorkspace, openClient } from './support.ts'

/** A client on one workspace whose watches a test moves. */
function bench(notices: string[] = []) {
  const { started, watches } = fakeWatches(notices)
  const workspace = fakeWorkspace({ id: 'w1', watches })
  let held = 0
  const acquire = async () => {
    held += 1
    const release = () => {
      held -= 1
    }
    return { workspace, release, [Symbol.dispose]: release }
  }
  const status = { open: true, closed: Promise.resolve() }
  const find = (async () => workspace.info) as unknown as Manager['find']
  const opened = () => (status.open ? workspace : undefined)
  const client = openClient({ manager: { acquire, find, opened, closed: () => status.closed, defaultId: async () => 'w1' } })
  const updates = () => client.notifications('notifications/resources/updated').map(({ params }) => params?.uri)
  const logged = () => client.notifications('notifications/message').map(({ params }) => String(params?.data))
  const turn = () => new Promise(resolve => setImmediate(resolve))
  return { client, started, status, updates, logged, turn, held: () => held }
}

const turns = () => new Promise(resolve => setTimeout(resolve, 5))

/** A client that makes one of two workspaces the current one; `data/only-w1` is in the first alone. */
function twoWorkspaces() {
  const made = { w1: fakeWatches(), w2: fakeWatches() }
  const start: Watches['start'] = async (path, watcher) => {
    if (path.endsWith('only-w1')) throw new WorkspaceError('not_found', 'not in w2')
    return made.w2.watches.start(path, watcher)
  }
  const w1 = fakeWorkspace({ id: 'w1', watches: made.w1.watches })
  const w2 = fakeWorkspace({ id: 'w2', watches: { ...made.w2.watches, start } })
  const acquire: Manager['acquire'] = async (_scope, { ref } = {}) => {
    const release = () => {}
    return { workspace: ref === 'w2' ? w2 : w1, release, [Symbol.dispose]: release }
  }
  let state: SessionState = {}
  const client = openClient({
    manager: { acquire, opened: id => (id === 'w2' ? w2 : w1), defaultId: async () => 'w1' },
    directory: given => {
      state = given
    },
    run: async (_name, { to }) => {
      state.current = String(to)
      return { text: '' }
    },
  })
  const use = async (to: string) => {
    await client.request('tools/call', { name: 'workspace_use', arguments: { to } })
    await turns()
  }
  const updates = () => client.notifications('notifications/resources/updated').map(({ params }) => String(params?.uri))
  const logged = () => client.notifications('notifications/message').map(({ params }) => String(params?.data))
  return { client, started: { w1: made.w1.started, w2: made.w2.started }, updates, logged, use }
}

describe('subscriptions', () => {
  it('watch the path of a URI, in the workdir or the root, without its range', async () => {
    const { client, started, held } = bench()
    for (const uri of ['workspace://w1/a/b.txt?lines=1-2', 'workspace:///sessions/x', 'workspace://w1/c?root', 'workspace://w1'])
      expect(await client.request('resources/subscribe', { uri })).toMatchObject({ result: {} })
    expect([...started.keys()]).toEqual(['/w/w1/a/b.txt', '/r/w1/sessions/x', '/r/w1/c', 'jobs'])
    expect(held()).toBe(0)
  })

  it('tell once of what changes several times in one turn', async () => {
    const { client, started, updates, turn } = bench()
    const uri = 'workspace://w1/a.txt'
    await client.request('resources/subscribe', { uri })
    await client.request('resources/subscribe', { uri })
    for (let time = 0; time < 3; time += 1) started.get('/w/w1/a.txt')?.changed()
    await turn()
    expect(updates()).toEqual([uri])
    await client.request('resources/unsubscribe', { uri })
    expect(started.size).toBe(0)
  })

  it('say that changes come late, and that they have ended', async () => {
    const { client, started, logged, updates, turn } = bench(['/w/w1/a.txt is looked at every second'])
    await client.request('resources/subscribe', { uri: 'workspace://w1/a.txt' })
    const watcher = started.get('/w/w1/a.txt')
    watcher?.ended('the workspace was closed')
    watcher?.changed()
    await turn()
    expect(logged()).toEqual([
      '/w/w1/a.txt is looked at every second',
      expect.stringMatching(/workspace:\/\/w1\/a\.txt has ended: the workspace was closed/),
    ])
    expect(updates()).toEqual([])
  })

  it('to a status open nothing, outlive the end of the workspace, and tell of it once that is over', async () => {
    const { client, started, status, updates, logged, turn, held } = bench()
    const uri = 'workspace://w1'
    status.open = false
    expect(await client.request('resources/subscribe', { uri })).toMatchObject({ result: {} })
    expect([held(), started.size]).toEqual([0, 0])
    status.open = true
    await client.request('resources/subscribe', { uri: 'workspace://w1/a.txt' })
    await turn()
    expect(started.has('jobs')).toBe(true)
    expect(updates()).toEqual([uri])
    let over = () => {}
    status.closed = new Promise(resolve => {
      over = resolve
    })
    started.get('jobs')?.ended('the workspace was closed')
    await turns()
    expect(updates()).toHaveLength(1)
    over()
    await turns()
    expect(updates()).toEqual([uri, uri])
    expect(logged()).toEqual([])
    await client.request('resources/read', { uri: 'workspace://w1/a.txt' })
    await turn()
    started.get('jobs')?.changed()
    await turn()
    expect(updates()).toHaveLength(4)
    await client.request('resources/unsubscribe', { uri })
    expect(started.has('jobs')).toBe(false)
  })

  it('follow the current workspace where the URI names none, and tell of it once', async () => {
    const { client, started, updates, logged, use } = twoWorkspaces()
    for (const uri of ['workspace:///data/x', 'workspace:///data/only-w1', 'workspace://w1/a.txt'])
      expect(await client.request('resources/subscribe', { uri })).toMatchObject({ result: {} })
    await use('w2')
    expect([...started.w1.keys()]).toEqual(['/w/w1/a.txt'])
    expect([...started.w2.keys()]).toEqual(['/r/w2/data/x'])
    expect(updates().sort()).toEqual(['workspace:///data/only-w1', 'workspace:///data/x'])
    expect(logged()).toEqual([expect.stringMatching(/only-w1 has ended: not in w2/)])
    await use('w2')
    expect(updates()).toHaveLength(2)
    await use('w1')
    expect([...started.w1.keys()]).toEqual(['/w/w1/a.txt', '/r/w1/data/x'])
    expect(started.w2.size).toBe(0)
    started.w1.get('/r/w1/data/x')?.changed()
    await turns()
    expect(updates().filter(uri => uri === 'workspace:///data/x')).toHaveLength(3)
  })

  it('are bounded', async () => {
    const { client } = bench()
    for (let at = 0; at < 1_000; at += 1) await client.request('resources/subscribe', { uri: `workspace://w1/${at}` })
    const { error } = await client.request('resources/subscribe', { uri: 'workspace://w1/more' })
    expect(error?.message).toContain('1000 resources are subscribed already')
  })

  it('end with the session', async () => {
    const { client, started } = bench()
    await client.request('resources/subscribe', { uri: 'workspace://w1/a.txt' })
    await client.session.close()
    expect(started.size).toBe(0)
  })
})
