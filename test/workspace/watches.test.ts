import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import type { GatewayCalls } from '../../src/workspace/environment-link.ts'
import { GatewayNews } from '../../src/workspace/gateway-news.ts'
import { createWatches } from '../../src/workspace/watches.ts'

const turns = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)))

/** Watches over a gateway that answers as told; `calls` are its calls, `heard` what the watcher of `/w/a` heard. */
async function bench() {
  const calls: string[] = []
  const heard: string[] = []
  const state = { connected: true, failure: undefined as WorkspaceError | undefined, notices: [] as string[] }
  const call = async (method: string, params: { path?: string; watch: string }) => {
    calls.push(`${method} ${params.path ?? ''} ${params.watch}`)
    if (state.failure !== undefined) throw state.failure
    return method === 'watch.start' ? { path: params.path, type: 'file', mode: 'events', notices: [...state.notices] } : {}
  }
  const news = new GatewayNews()
  const place = { confine: 'none' as const, workdir: '/w', root: '/r' }
  const options = { connected: () => state.connected, place, logger: silentLogger }
  const watches = createWatches({ call } as unknown as GatewayCalls, news, options)
  const hear = (text: string) => void heard.push(text)
  const watch = await watches.start('/w/a', { changed: () => hear('changed'), ended: hear, noticed: hear })
  const tell = (id: string) => news.events().notification?.('watch.changed', { watch: id })
  return { watches, watch, calls, heard, state, news, tell }
}

describe('watches of a workspace', () => {
  it('bring news to whom they concern', async () => {
    const { tell, heard } = await bench()
    tell('w1')
    tell('w2')
    expect(heard).toEqual(['changed'])
  })

  it('say that changes come late from now on, and that they do after a new beginning', async () => {
    const { news, heard, state } = await bench()
    news.events().notification?.('watch.polled', { watch: 'w1', notice: 'looked at every second' })
    news.events().notification?.('watch.polled', { watch: 'w2', notice: 'not ours' })
    state.notices = ['still so']
    news.lost()
    await turns()
    expect(heard).toEqual(['looked at every second', 'still so', 'changed'])
  })

  it('begin again with a gateway that took the place of another', async () => {
    const { calls, heard, news } = await bench()
    news.lost()
    await turns()
    expect(calls).toEqual(['watch.start /w/a w1', 'watch.start /w/a w1'])
    expect(heard).toEqual(['changed'])
  })

  it('start no environment, and begin again once somebody did', async () => {
    const { calls, heard, news, state, watches } = await bench()
    state.connected = false
    news.lost()
    await turns()
    expect(calls).toHaveLength(1)
    watches.renew()
    await turns()
    expect(calls).toHaveLength(2)
    expect(heard).toEqual(['changed'])
  })

  it('tell those who watch jobs of a loss once there is a gateway to ask', async () => {
    const { watches, news, state } = await bench()
    let told = 0
    const onJobs = watches.startOnJobs({ changed: () => (told += 1), ended: () => {} })
    news.lost()
    await turns()
    expect(told).toBe(1)
    state.connected = false
    news.lost()
    await turns()
    expect(told).toBe(1)
    watches.renew()
    watches.renew()
    expect(told).toBe(2)
    onJobs.end()
  })

  it('wait for the next gateway when one is lost while they begin, and end when the path is gone', async () => {
    const { heard, news, state, watches } = await bench()
    state.failure = new WorkspaceError('environment_lost', 'lost again')
    news.lost()
    await turns()
    expect(heard).toEqual([])
    state.failure = new WorkspaceError('not_found', '/w/a does not exist.')
    watches.renew()
    await turns()
    expect(heard).toEqual(['/w/a does not exist.'])
  })

  it('are stopped in the gateway by their end alone', async () => {
    const { calls, watch, watches, heard } = await bench()
    watch.end()
    watch.end()
    watches.dispose()
    expect(calls).toEqual(['watch.start /w/a w1', 'watch.stop  w1'])
    expect(heard).toEqual([])
  })

  it('end with the workspace, and say so', async () => {
    const { watches, heard } = await bench()
    watches.dispose()
    expect(heard).toEqual(['the workspace was closed'])
  })
})
