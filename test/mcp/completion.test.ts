import { expect, it } from 'vitest'
import type { Skill, Skills } from '../../src/workspace/skills/port.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'
import { fakeSummary, fakeWorkspace, openClient } from './support.ts'

const skill = (name: string, frontmatter: Record<string, unknown>): Skill => {
  const place = { dir: `/r/w1/skills/default/${name}`, folder: name }
  return { name, description: `Does ${name}.`, ...place, frontmatter, warnings: [], updatedAt: 0 }
}
const SKILLS = [skill('review', {}), skill('flags', { 'argument-hint': '[add|remove|list] NAME' })]
const ENTRIES = [
  { name: 'addresses.csv', type: 'file' },
  { name: 'src', type: 'directory' },
]

function open() {
  const files = {
    stat: async (path: string) => ({ path, type: /(w1|src)\/?$/.test(path) ? 'directory' : 'missing', size: 0 }),
    list: async (path: string) => ({
      path,
      truncated: false,
      entries: path.includes('src') ? [{ name: 'a.ts', type: 'file' }] : ENTRIES,
    }),
  } as unknown as Workspace['files']
  const skills = { list: async () => ({ skills: SKILLS, skipped: [] }), version: async () => '1' } as unknown as Skills
  const workspace = fakeWorkspace({ id: 'w1', files, skills: skills as never })
  const client = openClient({
    manager: { opened: () => workspace, defaultId: async () => 'w1' },
    summaries: [fakeSummary('w1', true)],
  })
  const complete = async (prompt: string, name: string, value: string) => {
    const ref = { type: 'ref/prompt', name: prompt }
    const { result } = await client.request('completion/complete', { ref, argument: { name, value } })
    return (result as { completion: { values: string[] } }).completion.values
  }
  return { client, complete }
}

it('arguments of prompts are completed: workspaces, what a skill offers, and paths', async () => {
  const { client, complete } = open()
  expect(await complete('workspace-instructions', 'workspace', 'name-')).toEqual(['name-w1'])
  expect(await complete('flags', 'arguments', '')).toEqual(['add', 'remove', 'list', 'addresses.csv', 'src/'])
  expect(await complete('flags', 'arguments', 'add')).toEqual(['add', 'addresses.csv'])
  expect(await complete('flags', 'arguments', 'add s')).toEqual(['add src/'])
  expect(await complete('review', 'arguments', 'the file src/')).toEqual(['the file src/a.ts'])
  expect(await complete('review', 'arguments', '../')).toEqual([])
  expect(await complete('no-such-prompt', 'arguments', '')).toEqual([])
  expect(await complete('review', 'path', '')).toEqual([])
  await client.session.close()
})

it('prompts and templates have titles and icons, their arguments titles', async () => {
  const { client } = open()
  const { prompts } = (await client.request('prompts/list')).result as {
    prompts: { name: string; title?: string; icons?: object[]; arguments: { title?: string; description: string }[] }[]
  }
  expect(prompts.map(({ name }) => name)).toEqual(['workspace-instructions', 'review', 'flags'])
  const { resourceTemplates } = (await client.request('resources/templates/list')).result as { resourceTemplates: typeof prompts }
  for (const { title, icons } of [...prompts, ...resourceTemplates])
    expect([title, icons?.length]).toEqual([expect.stringMatching(/\w/), 1])
  for (const each of prompts) expect(each.arguments[0]?.title).toMatch(/\w/)
  expect(prompts[2]?.arguments[0]?.description).toBe('[add|remove|list] NAME')
  await client.session.close()
})
