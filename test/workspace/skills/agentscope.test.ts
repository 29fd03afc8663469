import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { names, Place, skillText } from './place.ts'

/** Skill folders as AgentScope left them: they open here with the same meaning, and what is written keeps that form. */
const FIXTURES = join(import.meta.dirname, '../../fixtures/agentscope/skills')
let place: Place

beforeAll(() => {
  place = new Place()
}, 120_000)
afterAll(() => place.end(), 60_000)

async function opened(fixture: string) {
  const workspace = await place.open({ own: join(place.folder, 'none') })
  const skills = join(workspace.info.root, 'skills')
  mkdirSync(skills, { recursive: true })
  cpSync(join(FIXTURES, fixture), skills, { recursive: true })
  for (const entry of readdirSync(skills, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), 0o755)
  const listed = async (agent: string) => (await workspace.skills.list(agent)).skills.map(({ name, folder }) => [name, folder])
  return { workspace, skills, listed }
}

describe('partitions of version 2', () => {
  it('list the skills under the names that they had', async () => {
    const { listed } = await opened('v2')
    expect(await listed('alice')).toEqual([
      ['hello skill!', 'hello_skill_'],
      ['hello skill! (1)', 'hello_skill__1'],
      ['note', 'note'],
    ])
    expect(await listed('')).toEqual([['hello skill!', 'hello_skill_']])
    expect(await listed('default')).toEqual([['hello skill!', 'hello_skill_']])
  })

  it('keep emptied what was emptied, and equip a new agent from the seeds', async () => {
    const { listed } = await opened('v2')
    expect(await listed('bob')).toEqual([])
    expect(await listed('carol')).toEqual([['hello skill!', 'hello_skill_']])
  })

  it('load what is imperfect with warnings, and its files', async () => {
    const { workspace } = await opened('v2')
    const note = await workspace.skills.load('alice', 'note')
    expect((await workspace.skills.files(note))?.map(({ path }) => path)).toEqual(['SKILL.md', 'extra.txt'])
    const hello = await workspace.skills.load('alice', 'hello skill!')
    expect(hello.body).toBe('Say hello.\nSay it once.\n')
    expect(hello.warnings).toEqual([expect.stringContaining('lower-case')])
  })

  it('keep the form of their index when they change', async () => {
    const { workspace, skills } = await opened('v2')
    const before = JSON.parse(readFileSync(join(FIXTURES, 'v2/alice/.index'), 'utf8'))
    await workspace.skills.add('alice', { hostPath: place.write('new-skill', { 'SKILL.md': skillText('brand new') }) })
    const text = readFileSync(join(skills, 'alice/.index'), 'utf8')
    const after = JSON.parse(text)
    expect(text).toBe(JSON.stringify(after, null, 2))
    expect(after.skills).toMatchObject(before.skills)
    expect(Object.keys(after.skills).sort()).toEqual(['brand_new', 'hello_skill_', 'hello_skill__1', 'note'])
    expect(typeof after.skills_dir_mtime).toBe('number')
  })

  it('skip the same skill a second time', async () => {
    const { workspace } = await opened('v2')
    const again = await workspace.skills.add('alice', { hostPath: join(FIXTURES, 'v2/alice/note') })
    expect(again).toMatchObject({ added: false, skill: { name: 'note' } })
  })
})

describe('the layout before partitions', () => {
  it('becomes the seeds', async () => {
    const { listed, skills } = await opened('v1')
    expect(await listed('')).toEqual([['hello skill!', 'hello']])
    expect(names(skills)).toEqual(['.seed', 'default'])
    expect(names(join(skills, '.seed'))).toEqual(['.index', 'hello'])
  })
})
