import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { WorkspaceManager, type WorkspaceManagerOptions } from '../../src/library/workspace-manager.ts'
import { createPlace } from './place.ts'

let place: ReturnType<typeof createPlace>
let open: WorkspaceManager[]
beforeAll(() => {
  place = createPlace()
})
beforeEach(() => {
  open = []
})
afterEach(() => Promise.all(open.map(each => each[Symbol.asyncDispose]())))
afterAll(() => place.remove())

function manager(options: WorkspaceManagerOptions = {}): WorkspaceManager {
  const made = new WorkspaceManager(options, place.read)
  open.push(made)
  return made
}

describe('getWorkspace', () => {
  test('gives each agent its own and the same agent the same', async () => {
    const workspaces = manager()
    const [a, again, b] = await Promise.all(['a', 'a', 'b'].map(agent => workspaces.getWorkspace({ agent })))
    expect(a?.id).toBe(again?.id)
    expect(a?.id).not.toBe(b?.id)
    const { output } = await a!.shell.run({ session: 's', command: 'pwd' })
    expect(output.head.trim()).toBe(a!.workdir)
  })

  test('an unnamed user is one user, empty ids are none, a second user is refused on local', async () => {
    const workspaces = manager()
    const [unnamed, empty] = [
      await workspaces.getWorkspace(),
      await workspaces.getWorkspace({ user: '', agent: '', session: '', workspace: '' }),
    ]
    expect(empty.id).toBe(unnamed.id)
    await expect(workspaces.getWorkspace({ user: 'bob' })).rejects.toMatchObject({ code: 'permission_denied' })
  })

  test('takes an id or name of the same owner only', async () => {
    const workspaces = manager({ allowSharedLocal: true })
    const site = await workspaces.createWorkspace({ user: 'alice', name: 'site' })
    expect((await workspaces.getWorkspace({ user: 'alice', workspace: site.id })).id).toBe(site.id)
    expect((await workspaces.getWorkspace({ user: 'alice', workspace: 'site' })).workdir).toBe(site.workdir)
    for (const workspace of [site.id, 'site']) {
      await expect(workspaces.getWorkspace({ user: 'bob', workspace })).rejects.toMatchObject({ code: 'not_found' })
    }
    await expect(workspaces.getWorkspace({ workspace: '../x' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('a handle finds its workspace again after the sweeper closed it', async () => {
    const workspaces = manager({ ttlMs: 200 })
    const handle = await workspaces.createWorkspace({ name: 'swept' })
    const first = await handle.shell.run({ session: 's', command: 'echo one' })
    expect(first.output.head).toContain('one')
    const status = await vi.waitFor(
      async () => {
        const other = (await (await handle.listTools()).find(each => each.name === 'workspace_list')?.call())?.text ?? ''
        const line = other.split('\n').find(each => each.startsWith('swept'))
        expect(line).toContain('suspended')
        return line
      },
      { timeout: 20_000, interval: 1_000 },
    )
    expect(status).toContain(handle.id)
    const { output } = await handle.shell.run({ session: 's', command: 'echo two' })
    expect(output.head).toContain('two')
  })
})

describe('createWorkspace and closing', () => {
  test('without a name it is always a new one', async () => {
    const workspaces = manager()
    const [a, b] = await Promise.all([workspaces.createWorkspace(), workspaces.createWorkspace()])
    expect(a.id).not.toBe(b.id)
  })

  test('close ends the one, closeAll the rest; files stay', async () => {
    const workspaces = manager()
    const [a, b] = [await workspaces.createWorkspace({ name: 'a' }), await workspaces.createWorkspace({ name: 'b' })]
    const { workdir } = b
    await b.files.write({ session: 's', path: 'f', content: 'x' })
    await workspaces.close(a.id)
    expect(() => a.id).toThrow(/not open/)
    expect(b.workdir).toBe(workdir)
    await workspaces.closeAll()
    expect(() => b.id).toThrow(/not open/)
    expect(existsSync(`${workdir}/f`)).toBe(true)
    await expect(workspaces.close('ws-aaaaaaaaaaaaaaaaaaaa')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('await using closes all', async () => {
    let handle: Awaited<ReturnType<WorkspaceManager['getWorkspace']>>
    {
      await using workspaces = new WorkspaceManager({ policy: 'per_user' }, place.read)
      handle = await workspaces.getWorkspace()
      expect(handle.workdir).toContain(place.base)
    }
    expect(() => handle.workdir).toThrow(/not open/)
  })
})
