import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { LocalWorkspace, type LocalWorkspaceOptions } from '../../src/library/local-workspace.ts'
import type { ToolResult, WorkspaceTool } from '../../src/library/tool-client.ts'
import { createPlace } from './place.ts'

let place: ReturnType<typeof createPlace>
beforeAll(() => {
  place = createPlace()
})
afterAll(async () => {
  await vi.waitFor(() => expect(gatewaysOf(place.base)).toEqual([]), { timeout: 20_000, interval: 200 })
  place.remove()
})

const local = (options: LocalWorkspaceOptions = {}) => new LocalWorkspace(options, place.read)

async function tool(workspace: LocalWorkspace, name: string): Promise<WorkspaceTool> {
  const found = (await workspace.listTools()).find(each => each.name === name)
  if (found === undefined) throw new Error(`no tool ${name}`)
  return found
}

const gatewaysOf = (root: string) =>
  execFileSync('ps', ['-eo', 'args'])
    .toString()
    .split('\n')
    .filter(line => line.includes('gateway.mjs') && line.includes(root))

describe('life', () => {
  test('before initialize everything says what to do; close and detach are harmless', async () => {
    const workspace = local()
    for (const use of [
      () => workspace.id,
      () => workspace.workdir,
      () => workspace.shell,
      () => workspace.getInstructions(),
      () => workspace.connect(),
    ]) {
      expect(use).toThrow(/not open/)
    }
    await expect(workspace.listTools()).rejects.toMatchObject({
      code: 'precondition_failed',
      hint: expect.stringContaining('initialize'),
    })
    await expect(workspace.reset()).rejects.toMatchObject({ code: 'precondition_failed' })
    await workspace.close()
    await workspace.detach()
  })

  test('initialize many times is once; close twice is once; then it may begin again with its files', async () => {
    const workspace = local({ name: 'life' })
    await Promise.all([workspace.initialize(), workspace.initialize(), workspace.initialize()])
    const { id } = workspace
    await workspace.files.write({ session: 's', path: 'kept.txt', content: 'x' })
    await Promise.all([workspace.close(), workspace.close()])
    expect(() => workspace.id).toThrow(/not open/)
    await workspace.initialize()
    expect(workspace.id).toBe(id)
    expect((await workspace.files.stat('kept.txt')).type).toBe('file')
    await workspace.close()
    await vi.waitFor(() => expect(gatewaysOf(place.base)).toEqual([]), { timeout: 20_000, interval: 200 })
  })

  test('a failed initialize may be tried again', async () => {
    const workspace = local({ directory: join(place.base, 'later') })
    await expect(workspace.initialize()).rejects.toMatchObject({ code: 'not_found' })
    execFileSync('mkdir', [join(place.base, 'later')])
    await workspace.initialize()
    expect(workspace.workdir).toBe(join(place.base, 'later'))
    await workspace.close()
  })

  test('directory and name exclude each other', async () => {
    await expect(local({ directory: place.project, name: 'x' }).initialize()).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('await using closes; destroy takes the files', async () => {
    let workdir = ''
    {
      await using workspace = await local({ name: 'short' }).initialize()
      workdir = workspace.workdir
    }
    expect(existsSync(workdir)).toBe(true)
    const again = await local({ name: 'short' }).initialize()
    await again.shell.run({ session: 's', command: 'echo x > file; sleep 300 &' })
    await again.destroy()
    expect(existsSync(workdir)).toBe(false)
    await vi.waitFor(() => expect(gatewaysOf(workdir)).toEqual([]), { timeout: 20_000, interval: 200 })
    expect(existsSync(workdir)).toBe(false)
  })

  test('detach leaves a job running; the next one finds it', async () => {
    const first = await local({ name: 'detached' }).initialize()
    const { job } = await first.shell.run({ session: 's', command: 'sleep 300', background: true })
    await first.detach()
    const second = await local({ name: 'detached' }).initialize()
    expect(await second.shell.jobs()).toEqual([expect.objectContaining({ id: job, status: 'running' })])
    const { workdir } = second
    expect(gatewaysOf(workdir)).toHaveLength(1)
    await second.close()
    await vi.waitFor(() => expect(gatewaysOf(workdir)).toEqual([]), { timeout: 20_000, interval: 200 })
  })
})

describe('a directory of the user', () => {
  test('has nothing of ours in it after a session', async () => {
    writeFileSync(join(place.project, 'a.txt'), 'one\n')
    const list = () => execFileSync('find', [place.project, '-printf', '%P %y %s\n']).toString().split('\n').sort()
    const before = list()
    const workspace = await local({ directory: pathToFileURL(place.project) }).initialize()
    expect(workspace.workdir).toBe(place.project)
    const bash = await tool(workspace, 'Bash')
    await bash.call({ command: 'cd / && export A=1; yes | head -c 300000' })
    await bash.call({ command: 'sleep 300', run_in_background: true })
    await (await tool(workspace, 'Read')).call({ file_path: 'a.txt' })
    await (await tool(workspace, 'Grep')).call({ pattern: 'one' })
    await workspace.reset()
    await workspace.close()
    expect(list()).toEqual(before)
    await using again = await local({ directory: place.project }).initialize()
    await expect(again.destroy()).rejects.toMatchObject({ code: 'permission_denied' })
    expect(list()).toEqual(before)
  })
})

describe('tools', () => {
  test('are listed with their schemas and called with answers, progress and cancel', async () => {
    await using workspace = await local({ name: 'tools', env: { EXTRA: 'more' } }).initialize()
    const tools = await workspace.listTools()
    expect(tools.map(each => each.name)).toEqual(
      expect.arrayContaining(['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'workspace_list']),
    )
    for (const each of tools) {
      expect(each.description.length).toBeGreaterThan(10)
      expect(each.inputSchema).toMatchObject({ type: 'object' })
    }
    const bash = await tool(workspace, 'Bash')
    const answer: ToolResult = await bash.call({ command: 'pwd; echo $FROM_HOST $EXTRA; cd /tmp' })
    expect(answer.isError).toBe(false)
    expect(answer.text).toContain(`${workspace.workdir}\nyes more`)
    expect((await bash.call({ command: 'pwd' })).text).toContain('/tmp')

    const parts: string[] = []
    await bash.call({ command: 'echo first; sleep 0.5; echo second' }, { onProgress: text => parts.push(text) })
    expect(parts.join('')).toContain('first')

    const wrong = await bash.call({ comand: 'x' })
    expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining('comand')])

    const controller = new AbortController()
    const running = bash.call({ command: `echo $$ > ${place.base}/pid; exec sleep 300` }, { signal: controller.signal })
    const pid = await vi.waitFor(() => Number(readFileSync(join(place.base, 'pid'), 'utf8').trim() || Number.NaN), {
      timeout: 15_000,
    })
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    await vi.waitFor(
      () => expect(existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toBeFalsy(),
      { timeout: 15_000 },
    )
    await expect(bash.call({ command: 'true' }, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
  })

  test('work in the named workspace, not in the default one', async () => {
    await using workspace = await local({ name: 'pinned' }).initialize()
    const status = await (await tool(workspace, 'workspace_status')).call()
    expect(status.text).toContain(workspace.id)
    expect((await (await tool(workspace, 'Bash')).call({ command: 'pwd' })).text).toContain(workspace.workdir)
  })
})

describe('connect', () => {
  test("gives a transport that the SDK's client takes; closing the workspace closes it", async () => {
    const workspace = await local({ name: 'connected' }).initialize()
    const client = new Client({ name: 'test', version: '1' })
    const closed = vi.fn()
    client.onclose = closed
    await client.connect(workspace.connect())
    const { tools } = await client.listTools()
    expect(tools.map(each => each.name)).toContain('Bash')
    const result = await client.callTool({ name: 'Bash', arguments: { command: 'echo hello' } })
    expect(JSON.stringify(result.content)).toContain('hello')
    await workspace.close()
    expect(closed).toHaveBeenCalledOnce()
    await expect(client.listTools()).rejects.toThrow()
  })

  test('two connections have shell state of their own', async () => {
    await using workspace = await local({ name: 'two' }).initialize()
    const clients = await Promise.all(
      ['/tmp', '/usr'].map(async directory => {
        const client = new Client({ name: 'test', version: '1' })
        await client.connect(workspace.connect())
        await client.callTool({ name: 'Bash', arguments: { command: `cd ${directory}` } })
        return client
      }),
    )
    const answers = await Promise.all(clients.map(client => client.callTool({ name: 'Bash', arguments: { command: 'pwd' } })))
    expect(JSON.stringify(answers[0]?.content)).toContain('/tmp')
    expect(JSON.stringify(answers[1]?.content)).toContain('/usr')
  })
})

test('instructions name backend and workdir; a template keeps its other braces', async () => {
  await using workspace = await local({ name: 'words' }).initialize()
  expect(workspace.getInstructions()).toContain(workspace.workdir)
  expect(workspace.getInstructions('{backend} {workdir} {other} {}')).toBe(`local ${workspace.workdir} {other} {}`)
})
