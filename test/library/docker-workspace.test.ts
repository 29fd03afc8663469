import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connectEngine } from '../../src/backends/docker/engine.ts'
import { DockerWorkspace, type DockerWorkspaceOptions } from '../../src/library/docker-workspace.ts'
import { WorkspaceManager } from '../../src/library/workspace-manager.ts'
import { ENV, IMAGE, MISSING, onEngine } from '../backends/docker/support.ts'
import { createPlace } from './place.ts'

describe.skipIf(MISSING !== '')(onEngine('DockerWorkspace'), () => {
  let place: ReturnType<typeof createPlace>
  const docker = async () => (await connectEngine({ env: ENV })).docker
  const containers = async () => {
    const all = await (await docker()).listContainers({ all: true, filters: { label: [`atelier.data-dir=${place.base}/data`] } })
    return all
  }
  const read = () => ({ ...place.read(), docker: { env: ENV, image: IMAGE } })
  const make = (options: DockerWorkspaceOptions = {}) => new DockerWorkspace(options, read)

  beforeAll(() => {
    place = createPlace()
  }, 120_000)
  afterEach(async () => {
    for (const { Id } of await containers()) await (await docker()).getContainer(Id).remove({ force: true, v: true })
  }, 60_000)
  afterAll(() => place?.remove())

  test("a directory of the user's holds Atelier's folders itself where asked for", async () => {
    const directory = join(place.base, 'laid-out')
    mkdirSync(join(directory, 'skills/alice/note'), { recursive: true })
    writeFileSync(join(directory, 'skills/alice/note/SKILL.md'), '---\nname: note\ndescription: Takes a note.\n---\nTake it.\n')
    await using workspace = await make({ directory, layout: 'workdir' }).initialize()
    expect(workspace.info).toMatchObject({ workdir: '/workspace', root: '/workspace', madeByAtelier: false, layout: 'workdir' })
    expect((await workspace.listSkills({ agent: 'alice' })).skills).toMatchObject([{ name: 'note' }])
    await workspace.offloadContext('s1', [{ role: 'user', content: 'hello' }])
    expect(readFileSync(join(directory, 'sessions/s1/context.jsonl'), 'utf8')).toContain('hello')
  })

  test('the same tools as everywhere, with the files kept between two uses', async () => {
    {
      await using workspace = await make({ name: 'tools', env: { EXTRA: 'more' } }).initialize()
      expect(workspace.workdir).toBe('/workspace')
      const tools = await workspace.listTools()
      const call = async (name: string, args: Record<string, unknown>) =>
        (await tools.find(each => each.name === name)?.call(args))?.text ?? ''
      expect(await call('Bash', { command: 'echo "$EXTRA $FROM_HOST."; cd /usr' })).toContain('more .')
      expect(await call('Bash', { command: 'pwd' })).toContain('/usr')
      await call('Write', { file_path: '/workspace/notes.txt', content: 'one\ntwo\n' })
      expect(await call('Read', { file_path: '/workspace/notes.txt' })).toContain('two')
      expect(await call('Edit', { file_path: '/workspace/notes.txt', old_string: 'two', new_string: 'three' })).not.toContain(
        'rror',
      )
      expect(await call('Grep', { pattern: 'three', path: '/workspace', output_mode: 'content' })).toContain('three')
      expect(await call('Glob', { pattern: '**/*.txt', path: '/workspace' })).toContain('notes.txt')
      const status = await call('workspace_status', {})
      expect(status).toContain(`docker, image ${IMAGE}`)
      expect(status).toMatch(/cpu: \d+ %[\s\S]*memory: .* of [\s\S]*disk: .* free/)
    }
    expect(await containers()).toEqual([])
    await using again = await make({ name: 'tools' }).initialize()
    const { output } = await again.shell.run({ session: 's', command: 'cat notes.txt' })
    expect(output.head).toBe('one\nthree\n')
    await again.destroy()
  })

  test("a directory of one's own is the workspace", async () => {
    mkdirSync(join(place.project, 'src'), { recursive: true })
    writeFileSync(join(place.project, 'src/a.txt'), 'mine')
    await using workspace = await make({ directory: place.project }).initialize()
    expect((await workspace.shell.run({ session: 's', command: 'cat src/a.txt' })).output.head).toBe('mine')
    await expect(make({ directory: place.project, name: 'both' }).initialize()).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  test('a server on the host makes containers for an agent, from allowed images and profiles alone', async () => {
    await using manager = new WorkspaceManager(
      { allowedImages: [IMAGE], docker: { image: IMAGE, profiles: { small: { memoryBytes: 512 * 1024 ** 2 } } } },
      read,
    )
    const handle = await manager.getWorkspace()
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(handle.connect())
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const answer = await client.callTool({ name, arguments: args })
      return (answer.content as { text: string }[]).map(each => each.text).join('\n')
    }
    expect(await call('workspace_create', { name: 'box', backend: 'docker', image: 'other:1' })).toContain('not allowed')
    expect(await call('workspace_create', { name: 'box', backend: 'docker', profile: 'host' })).toContain('not open to calls')
    expect(
      await call('workspace_create', { name: 'box', backend: 'docker', image: IMAGE, profile: 'small', env: { A: 'b' } }),
    ).toContain('Created box')
    expect(await call('Bash', { command: 'echo $A; pwd' })).toContain('b\n/workspace')
    expect(await call('workspace_status')).toMatch(/memory: .* of 512/)
    expect(await call('workspace_list')).toMatch(/box \(docker, running, current\)/)
    expect(await call('Bash', { command: 'pwd', workspace: handle.id })).toContain(place.base)
    expect(await call('workspace_create', { name: 'box', backend: 'docker', profile: 'hardened' })).toContain('another profile')
    expect(await call('workspace_close', { workspace: 'box' })).toContain('box')
    expect(await call('workspace_list')).toMatch(/box \(docker, suspended/)
    expect(await call('workspace_delete', { workspace: 'box', confirm: true })).toContain('box')
    expect(await call('workspace_list')).not.toContain('box')
    expect(await containers()).toEqual([])
    await client.close()
  })
})
