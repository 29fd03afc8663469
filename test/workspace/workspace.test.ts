import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { type Answers, FakeEnvironment, lost, openFake } from './fakes.ts'

const RUNNING = {
  jobs: [
    { id: 'j1', status: 'running' },
    { id: 'j2', status: 'exited' },
  ],
}

describe('close', () => {
  it('ends running jobs, then suspends and lets go', async () => {
    const { workspace, client, environments } = await openFake({ answers: () => ({ 'job.list': RUNNING }) })
    expect(await workspace.close()).toEqual({ notices: ['Running jobs were ended: j1.'] })
    expect(client.asked('job.kill')).toEqual([{ id: 'j1' }])
    expect(client.closedWith).toEqual(['end'])
    expect(environments[0]!.log).toEqual(['suspend', 'dispose'])
  })

  it('only detaches while another link is attached, and says so', async () => {
    const { workspace, client, environments } = await openFake({ answers: () => ({ info: { links: 2 }, 'job.list': RUNNING }) })
    const { notices } = await workspace.close()
    expect(notices).toEqual(['Workspace "demo" is in use by another client: only detached, it goes on running.'])
    expect(client.asked('job.kill')).toEqual([])
    expect(client.closedWith).toEqual(['detach'])
    expect(environments[0]!.log).toEqual(['dispose'])
  })

  it('leaves the environment to who attached while its jobs were ended', async () => {
    const { workspace, client, environments } = await openFake({ answers: () => ({ 'job.list': RUNNING }) })
    client.others = 1
    const { notices } = await workspace.close()
    expect(notices.join()).toMatch(/jobs were ended.*in use by another client/)
    expect(client.closedWith).toEqual(['end'])
    expect(environments[0]!.log).toEqual(['dispose'])
  })

  it('is done once, however often it is asked for', async () => {
    const { workspace, environments } = await openFake()
    await Promise.all([workspace.close(), workspace.close()])
    await workspace[Symbol.asyncDispose]()
    await workspace.detach()
    expect(environments[0]!.log).toEqual(['suspend', 'dispose'])
  })

  it('suspends although the gateway no longer answers', async () => {
    const { workspace, environments } = await openFake({ answers: () => ({ info: lost(), 'job.list': lost() }) })
    await workspace.close()
    expect(environments[0]!.log).toEqual(['suspend', 'dispose'])
  })

  it('says when there was nothing left to suspend, and passes other failures on after letting go', async () => {
    const gone = new FakeEnvironment()
    gone.suspendError = new WorkspaceError('environment_gone', 'no such container')
    const first = await openFake({ environments: [gone] })
    expect((await first.workspace.close()).notices).toEqual(['Workspace "demo" was gone already.'])
    const broken = new FakeEnvironment()
    broken.suspendError = new WorkspaceError('unavailable', 'daemon down')
    const second = await openFake({ environments: [broken] })
    await expect(second.workspace.close()).rejects.toThrow('daemon down')
    expect(broken.log).toEqual(['suspend', 'dispose'])
  })

  it('refuses calls afterwards', async () => {
    const { workspace } = await openFake()
    await workspace.close()
    await expect(workspace.files.stat('x')).rejects.toMatchObject({
      code: 'environment_gone',
      message: 'Workspace "demo" is closed.',
    })
  })
})

describe('detach and destroy', () => {
  it.each(['end', 'detach'] as const)('detaches with the configured goodbye (%s) and changes nothing else', async goodbye => {
    const { workspace, client, environments } = await openFake({ options: { goodbye } })
    await workspace.detach()
    expect(client.closedWith).toEqual([goodbye])
    expect(environments[0]!.log).toEqual(['dispose'])
  })

  it('ends jobs, then removes the environment', async () => {
    const { workspace, client, environments } = await openFake({ answers: () => ({ 'job.list': RUNNING }) })
    await workspace.destroy()
    expect(client.asked('job.kill')).toHaveLength(1)
    expect(client.closedWith).toEqual(['end'])
    expect(environments[0]!.log).toEqual(['destroy', 'dispose'])
  })

  it('touches nothing in a directory that Atelier did not make', async () => {
    const environment = new FakeEnvironment({ madeByAtelier: false })
    const { workspace, client } = await openFake({ environments: [environment] })
    await expect(workspace.destroy()).rejects.toMatchObject({ code: 'permission_denied' })
    expect(client.closedWith).toEqual([])
    expect(environment.log).toEqual([])
  })
})

describe('a lost environment', () => {
  const RUN = { session: 's', command: 'true' }
  const answers = (): Answers => ({ 'command.run': { notices: [] } })

  it('fails the call in flight, is provisioned once for all that wait, and is told once', async () => {
    const { workspace, clients, lostSentences, provisions } = await openFake({ instances: ['one', 'two'], answers })
    clients[0]!.die()
    clients[0]!.state = 'reconnecting'
    await expect(workspace.shell.run(RUN)).rejects.toMatchObject({ code: 'environment_lost' })
    await Promise.all([workspace.shell.run(RUN), workspace.shell.run(RUN), workspace.shell.run(RUN)])
    expect(provisions()).toBe(2)
    expect(workspace.takeNotices()).toEqual([expect.stringContaining('was restarted')])
    expect(workspace.takeNotices()).toEqual([])
    expect(lostSentences).toHaveLength(1)
  })

  it('is noticed before a call when the link was closed meanwhile', async () => {
    const { workspace, clients } = await openFake({ instances: ['one', 'two'], answers })
    expect(workspace.lost).toBe(false)
    clients[0]!.die()
    expect(workspace.lost).toBe(true)
    expect(clients).toHaveLength(1)
    await workspace.shell.run(RUN)
    expect(clients).toHaveLength(2)
    expect(workspace.lost).toBe(false)
  })

  it('says that files may be lost when another environment was made', async () => {
    const environments = [new FakeEnvironment(), new FakeEnvironment({ createdAt: '2026-02-02T00:00:00Z' })]
    const { workspace, clients } = await openFake({ environments, instances: ['one', 'two'], answers })
    clients[0]!.die()
    await workspace.shell.run(RUN)
    expect(workspace.takeNotices()).toEqual([expect.stringContaining('has been made again')])
    expect(environments[0]!.log).toContain('dispose')
    expect(workspace.info.createdAt).toBe('2026-02-02T00:00:00Z')
  })

  it('says nothing when the same gateway answers again', async () => {
    const { workspace, clients } = await openFake({ instances: ['one', 'one'], answers })
    await new Promise(resolve => setImmediate(resolve))
    clients[0]!.die()
    await workspace.shell.run(RUN)
    expect(workspace.takeNotices()).toEqual([])
  })

  it('says nothing when the first link never came about', async () => {
    const { workspace, clients } = await openFake({ instances: ['', 'two'], answers })
    clients[0]!.die()
    await workspace.shell.run(RUN)
    expect(workspace.takeNotices()).toEqual([])
  })

  it('that somebody else ended while it was dialled is provisioned anew for the same call, a few times', async () => {
    const { workspace, clients, provisions } = await openFake({ instances: ['', 'two'], answers })
    clients[0]!.state = 'connecting'
    clients[0]!.answers['command.run'] = lost()
    await workspace.shell.run(RUN)
    expect(provisions()).toBe(2)
    expect(workspace.takeNotices()).toEqual([])
    const never = await openFake({ instances: [''], answers: () => ({ 'command.run': lost() }) })
    await expect(never.workspace.shell.run(RUN)).rejects.toMatchObject({ code: 'environment_lost' })
    expect(never.clients[0]!.asked('command.run').length).toBeLessThanOrEqual(3)
  })

  it('never sends a call again that a gateway had, even one that has not yet said what it is', async () => {
    const { workspace, clients, provisions } = await openFake({ instances: ['silent', 'two'], answers })
    clients[0]!.die()
    clients[0]!.state = 'reconnecting'
    await expect(workspace.shell.run(RUN)).rejects.toMatchObject({ code: 'environment_lost' })
    expect([provisions(), clients[0]!.asked('command.run').length]).toEqual([1, 1])
    await workspace.shell.run(RUN)
    expect(workspace.takeNotices()).toEqual([expect.stringContaining('was restarted')])
  })

  it('is suspended also when it was just being made again', async () => {
    const environments = [new FakeEnvironment(), new FakeEnvironment()]
    const { workspace, clients } = await openFake({ environments, instances: ['one', 'two'], answers })
    clients[0]!.die()
    const call = workspace.shell.run(RUN)
    const closing = workspace.close()
    await expect(call).rejects.toMatchObject({ code: 'environment_gone' })
    await closing
    expect(environments.map(environment => environment.log)).toEqual([['dispose'], ['suspend', 'dispose']])
    expect(clients).toHaveLength(1)
  })

  it('can be detached at once while its gateway is not answering yet', async () => {
    const { workspace, clients, environments } = await openFake({ instances: ['one', 'silent'], answers })
    clients[0]!.die()
    void workspace.shell.run(RUN)
    await expect.poll(() => clients.length).toBe(2)
    await workspace.detach()
    expect(clients[1]!.closedWith).toEqual(['detach'])
    expect(environments[0]!.log.at(-1)).toBe('dispose')
  })

  it('tells of a gateway that was replaced behind an open link', async () => {
    const { workspace, client } = await openFake()
    client.events.replaced?.('one', 'two')
    expect(workspace.takeNotices()).toEqual([expect.stringContaining('Workspace "demo" was restarted')])
  })

  it('does not provision again for an ordinary error', async () => {
    const missing = new WorkspaceError('not_found', 'no such file')
    const { workspace, provisions } = await openFake({ answers: () => ({ 'file.stat': missing }) })
    await expect(workspace.files.stat('x')).rejects.toBe(missing)
    await expect(workspace.files.stat('x')).rejects.toBe(missing)
    expect(provisions()).toBe(1)
  })

  it('can still be suspended after its link was lost', async () => {
    const { workspace, clients, environments } = await openFake({ answers })
    clients[0]!.die()
    clients[0]!.state = 'reconnecting'
    await expect(workspace.shell.run(RUN)).rejects.toMatchObject({ code: 'environment_lost' })
    await workspace.close()
    expect(environments[0]!.log).toEqual(['suspend', 'dispose'])
  })
})

describe('calls in flight', () => {
  it('are counted until they end, also when they fail', async () => {
    let finish = (): void => {}
    const held = new Promise<void>(resolve => {
      finish = resolve
    })
    const { workspace } = await openFake({ answers: () => ({ 'file.stat': () => held, 'job.list': new Error('x') }) })
    const call = workspace.files.stat('a')
    const failing = workspace.shell.jobs()
    expect(workspace.inFlight).toBe(2)
    await expect(failing).rejects.toThrow('x')
    expect(workspace.inFlight).toBe(1)
    finish()
    await call
    expect(workspace.inFlight).toBe(0)
  })
})

describe('reset', () => {
  it("empties Atelier's own folders and nothing else, and keeps whose it is", async () => {
    const listing: Record<string, string[]> = {
      '/root-of-ours/data': ['a.bin'],
      '/root-of-ours/sessions': ['s1', 's2'],
      '/root-of-ours/.atelier': ['owner.json', 'jobs'],
    }
    const list = ({ path }: { path: string }) => {
      const names = listing[path]
      if (names === undefined) throw new WorkspaceError('not_found', path)
      return { path, truncated: false, entries: names.map(name => ({ name })) }
    }
    const { workspace, client } = await openFake({ answers: () => ({ 'file.list': list }) })
    await workspace.reset()
    expect(client.calls[0]!.method).toBe('reset')
    expect(client.asked('file.remove').map(params => params.path)).toEqual([
      '/root-of-ours/.mcp',
      '/root-of-ours/data/a.bin',
      '/root-of-ours/sessions/s1',
      '/root-of-ours/sessions/s2',
      '/root-of-ours/.atelier/jobs',
    ])
  })

  it('fails when something of ours can not be removed', async () => {
    const denied = new WorkspaceError('permission_denied', 'no')
    const { workspace } = await openFake({ answers: () => ({ 'file.remove': denied }) })
    await expect(workspace.reset()).rejects.toBe(denied)
  })
})

describe('forgetSession', () => {
  it('reaches the gateway', async () => {
    const { workspace, client } = await openFake()
    await workspace.forgetSession('s1')
    expect(client.asked('session.forget')).toEqual([{ session: 's1' }])
  })
})
