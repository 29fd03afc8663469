import { execFileSync } from 'node:child_process'
import { chmodSync, createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectEngine } from '../../src/backends/docker/engine.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { DockerWorkspace } from '../../src/library/docker-workspace.ts'
import { LocalWorkspace, type LocalWorkspaceOptions } from '../../src/library/local-workspace.ts'
import type { WorkspaceHandle } from '../../src/library/workspace-handle.ts'
import { SkillSeeds } from '../../src/workspace/skills/skill-seeds.ts'
import { ENV, IMAGE, MISSING, onEngine } from '../backends/docker/support.ts'
import { tarGz, zip } from '../support/archives.ts'
import { createPlace } from './place.ts'

type Place = ReturnType<typeof createPlace>

/** The place's defaults, with a reader built for it. */
function defaultsOf({ base, read }: Place) {
  const { open, ...rest } = read()
  const script = join(base, 'reader.mjs')
  const seedsFor = (paths: readonly string[]) =>
    new SkillSeeds({ paths, own: join(base, 'skills'), reader: { script }, logger: silentLogger })
  return {
    ...rest,
    open: ((backend, spec, options) =>
      open!(backend, spec, { ...options, seeds: seedsFor(options.seeds?.paths ?? []) })) satisfies typeof open,
  }
}

const BACKENDS: { name: string; missing: string; make(place: Place, options: LocalWorkspaceOptions): WorkspaceHandle }[] = [
  { name: 'local', missing: '', make: (place, options) => new LocalWorkspace(options, () => defaultsOf(place)) },
  {
    name: onEngine('docker'),
    missing: MISSING,
    make: (place, options) => new DockerWorkspace(options, () => ({ ...defaultsOf(place), docker: { env: ENV, image: IMAGE } })),
  },
]

const header = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo ${name}.\n`
const PACKED = [
  { name: 'packed/SKILL.md', content: header('packed') },
  { name: 'packed/run.sh', content: 'echo ran\n', mode: 0o100755 },
]

describe.each(BACKENDS.map(backend => [backend.name, backend] as const))('on %s', (name, { missing, make }) => {
  let place: Place
  let workspace: WorkspaceHandle
  beforeAll(async () => {
    if (missing !== '') return
    place = createPlace()
    execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'reader', '--out', place.base])
    mkdirSync(join(place.base, 'given/house-rules'), { recursive: true })
    writeFileSync(join(place.base, 'given/house-rules/SKILL.md'), header('house-rules'))
    writeFileSync(join(place.base, 'given/house-rules/check.sh'), 'echo tidy\n')
    chmodSync(join(place.base, 'given/house-rules/check.sh'), 0o755)
    workspace = await make(place, { name: 'skills', skillPaths: [join(place.base, 'given')] }).initialize()
  }, 120_000)
  afterAll(async () => {
    if (missing !== '') return
    await workspace?.destroy()
    if (name !== 'local') {
      const { docker } = await connectEngine({ env: ENV })
      const filters = { label: [`atelier.data-dir=${place.base}/data`] }
      for (const { Id } of await docker.listContainers({ all: true, filters }))
        await docker.getContainer(Id).remove({ force: true, v: true })
    }
    place.remove()
  }, 60_000)
  const check = test.skipIf(missing !== '')
  const names = async (agent?: string) =>
    (await workspace.listSkills(agent === undefined ? {} : { agent })).skills.map(skill => skill.name)

  check('the given skills and our own are there, with their modes', async () => {
    const all = await names()
    expect(all).toContain('house-rules')
    expect(all).toContain('working-in-a-workspace')
    const tools = await workspace.listTools()
    const loaded = await tools.find(tool => tool.name === 'Skill')!.call({ skill: 'house-rules' })
    const base = /^Base directory of this skill: (.+)$/m.exec(loaded.text)?.[1]
    const { output } = await workspace.shell.run({ session: 's', command: `'${base}/check.sh'` })
    expect(output.head).toBe('tidy\n')
  })

  check('skills are added from the host and from archives, for one agent', async () => {
    const folder = join(place.base, 'given/house-rules')
    expect(await workspace.addSkill(folder)).toMatchObject({ added: false })
    expect(await workspace.addSkill(folder, { agent: 'alice' })).toMatchObject({ added: false })
    const file = join(place.base, 'packed.tgz')
    writeFileSync(file, tarGz(PACKED))
    expect(await workspace.addSkillArchive(createReadStream(file), { agent: 'alice' })).toMatchObject({ added: true })
    expect(await workspace.addSkillArchive(zip(PACKED), { agent: 'alice', format: 'zip' })).toMatchObject({ added: false })
    expect(await names('alice')).toContain('packed')
    expect(await names()).not.toContain('packed')
    await workspace.removeSkill('packed', { agent: 'alice' })
    expect(await names('alice')).not.toContain('packed')
    await expect(workspace.removeSkill('packed', { agent: 'alice' })).rejects.toMatchObject({ code: 'not_found' })
  })

  check('what is too large is stopped on the way', async () => {
    const bomb = zip([...PACKED, { name: 'packed/zeros', content: Buffer.alloc(3_000_000) }])
    const adding = workspace.addSkillArchive(bomb, { maxExtractedBytes: 1_000_000 })
    await expect(adding).rejects.toMatchObject({ code: 'too_large' })
    expect(await names()).not.toContain('packed')
  })

  check('after a purge an agent starts anew', async () => {
    await workspace.removeSkill('house-rules', { agent: 'bob' })
    expect(await names('bob')).not.toContain('house-rules')
    await workspace.purgeAgent('bob')
    expect(await names('bob')).toContain('house-rules')
  })
})
