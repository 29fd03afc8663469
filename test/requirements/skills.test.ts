import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { sha256, tar, zip } from '../support/archives.ts'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { type Case, verifies } from '../support/verifies.ts'

const header = (name: string, description = `Does ${name}. Use it when ${name} is asked for.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n`

/** Writes a skill into the workspace, and gives its folder. */
function skillIn({ dir }: Case, name: string, files: Record<string, string> = {}): string {
  mkdirSync(join(dir, name), { recursive: true })
  const all = { 'SKILL.md': `${header(name)}Do ${name} with $ARGUMENTS.\n`, ...files }
  for (const [file, text] of Object.entries(all)) writeFileSync(join(dir, name, file), text)
  return name
}

const ask = (client: TestClient, method: string, params: Record<string, unknown> = {}) =>
  client.client.request({ method, params }, ResultSchema) as Promise<Record<string, unknown>>

const textAt = async (client: TestClient, uri: string): Promise<string> => {
  const [contents] = (await client.client.readResource({ uri })).contents
  return contents !== undefined && 'text' in contents ? (contents.text as string) : ''
}

const baseOf = (answer: string): string => /^Base directory of this skill: (.+)$/m.exec(answer)?.[1] ?? ''

verifies('skills.own', async ({ client }) => {
  const listed = await client.text('skill_list')
  const names = [...listed.matchAll(/^- ([\w-]+): .{60,}$/gm)].map(([, name]) => name)
  expect(names).toEqual([
    'adding-an-mcp-server',
    'git-worktrees',
    'large-files-and-logs',
    'long-running-servers',
    'working-in-a-workspace',
  ])
})

verifies('skills.load', async test => {
  skillIn(test, 'greeting', { 'greet.sh': 'echo "hello from $(basename "$PWD")"\n' })
  expect(await test.client.text('skill_add', { path: 'greeting' })).toContain('Added the skill "greeting"')
  const loaded = await test.client.text('Skill', { skill: 'greeting', arguments: 'some care' })
  expect(loaded).toContain('Files: SKILL.md, greet.sh')
  expect(loaded).toContain('Do greeting with some care.')
  expect(loaded).not.toContain('description:')
  const base = baseOf(loaded)
  expect(await test.client.text('Bash', { command: `cd '${base}' && sh greet.sh` })).toContain('hello from greeting')
  expect(await test.client.text('Read', { file_path: `${base}/greet.sh` })).toContain('hello from')
  expect(await test.client.failure('Skill', { skill: 'greetings' })).toMatch(/no skill "greetings".*"greeting"/s)
})

verifies('skills.archive', async ({ client }) => {
  const packed = [
    { name: 'packed/SKILL.md', content: `${header('packed')}Do it.\n` },
    { name: 'packed/run.sh', content: 'echo ran\n', mode: 0o100755 },
  ]
  expect(await client.text('skill_add', { archive: zip(packed).toString('base64') })).toContain('Added the skill "packed"')
  expect(await client.text('skill_add', { archive: tar(packed).toString('base64'), format: 'tar' })).toContain('there already')
  const base = baseOf(await client.text('Skill', { skill: 'packed' }))
  expect(await client.text('Bash', { command: `'${base}/run.sh'` })).toContain('ran')
})

verifies('skills.archive.hostile', async ({ client }) => {
  const skill = { name: 'SKILL.md', content: header('bad') }
  const added = (archive: Buffer) => client.failure('skill_add', { archive: archive.toString('base64') })
  expect(await added(zip([skill, { name: 'up/../../../evil', content: 'x' }]))).toMatch(/leads out|relative path/)
  expect(await added(zip([skill, { name: 'link', content: '/etc/passwd', mode: 0o120777 }]))).toMatch(/link/)
  expect(await added(tar([skill, { name: 'skill.MD', content: 'x' }]))).toMatch(/same place/)
  expect(await added(zip([skill, { name: 'lie', content: Buffer.alloc(9_000), declared: 5 }]))).toMatch(/can not be read/)
  expect(await client.text('skill_list')).not.toContain('- bad:')
  const base = baseOf(await client.text('Skill', { skill: 'git-worktrees' }))
  const left = await client.text('Bash', { command: `cd '${base}/../../..' && find . -name 'evil*' -o -path '*staging/*'` })
  expect(left).toContain('(no output)')
})

verifies('skills.header.hostile', async test => {
  skillIn(test, 'deep', { 'SKILL.md': `---\nname: ${'['.repeat(30_000)}\n---\n` })
  expect(await test.client.failure('skill_add', { path: 'deep' })).toContain('SKILL.md')
  expect(await test.client.text('skill_list')).toContain('git-worktrees')
})

verifies('skills.reported', async ({ client }) => {
  const base = baseOf(await client.text('Skill', { skill: 'git-worktrees' }))
  await client.text('Bash', {
    command: `cd '${base}/..' && mkdir -p half Odd && printf -- '---\\nname: half\\n---\\n' > half/SKILL.md && printf -- '---\\nname: Odd Name\\ndescription: d\\n---\\nBody\\n' > Odd/SKILL.md`,
  })
  const listed = await client.text('skill_list')
  expect(listed).toMatch(/Skipped:\n- .*half\/SKILL\.md: the frontmatter has no description\. Add description/)
  expect(listed).toMatch(/- Odd Name: The name "Odd Name" should be lower-case/)
  expect(await client.text('Skill', { skill: 'Odd Name' })).toContain('Body')
})

verifies('skills.removed', async ({ client, connect, transport }) => {
  expect(await client.text('skill_remove', { skill: 'git-worktrees' })).toContain('Removed the skill "git-worktrees"')
  if (transport === 'stdio') await client.close()
  const again = await connect(client.http && { server: client.http })
  const listed = await again.text('skill_list')
  expect(listed).not.toContain('git-worktrees')
  expect(listed).toContain('long-running-servers')
})

verifies('skills.private', async test => {
  skillIn(test, 'mine')
  const call = async (agent: string, name: string, args = {}) =>
    JSON.stringify(await ask(test.client, 'tools/call', { name, arguments: args, _meta: { 'atelier/agent': agent } }))
  expect(await call('alice', 'skill_add', { path: 'mine' })).toContain('Added')
  expect(await call('alice', 'skill_list')).toContain('- mine:')
  expect(await call('bob', 'skill_list')).not.toContain('- mine:')
  expect(await test.client.text('skill_list')).not.toContain('- mine:')
})

verifies('skills.paths', async ({ world, connect }) => {
  const folder = join(world.root, 'given')
  mkdirSync(join(folder, 'house-rules'), { recursive: true })
  writeFileSync(join(folder, 'house-rules/SKILL.md'), `${header('house-rules')}Be tidy.\n`)
  const client = await connect({ args: ['--skill-paths', folder] })
  expect(await client.text('Skill', { skill: 'house-rules' })).toContain('Be tidy.')
  expect(await client.text('skill_remove', { skill: 'house-rules' })).toContain('Removed')
  expect(await client.text('skill_add', { path: join(folder, 'house-rules') })).toContain('Added')
  expect(await client.failure('skill_add', { path: join(world.root, 'nowhere') })).toContain('skillPaths')
})

verifies('skills.resources', async test => {
  skillIn(test, 'noted', { 'a b.txt': 'beside\n' })
  await test.client.text('skill_add', { path: 'noted' })
  const { resources } = await test.client.client.listResources()
  expect(resources.find(({ uri }) => uri === 'skill://noted/SKILL.md')).toMatchObject({
    name: 'noted',
    mimeType: 'text/markdown',
  })
  const index = JSON.parse(await textAt(test.client, 'skill://index.json'))
  expect(index.skills).toContainEqual(expect.objectContaining({ name: 'noted', url: 'skill://noted/SKILL.md' }))
  expect(await textAt(test.client, 'skill://noted/SKILL.md')).toContain('name: noted')
  expect(await textAt(test.client, 'skill://noted/a%20b.txt')).toBe('beside\n')
  for (const uri of [
    'skill://noted/..%2f..%2f.seed',
    'skill://noted/../../x',
    'skill://nobody/SKILL.md',
    'skill://noted/missing',
  ])
    await expect(test.client.client.readResource({ uri })).rejects.toThrow()
})

verifies('skills.extension', async test => {
  const { client } = test
  skillIn(test, 'noted', { 'extra.txt': 'beside\n' })
  await client.text('skill_add', { path: 'noted' })
  const capabilities = client.client.getServerCapabilities() as Record<string, Record<string, unknown>>
  expect(capabilities.extensions).toMatchObject({ 'io.modelcontextprotocol/skills': { directoryRead: true } })
  const { skills } = (await ask(client, 'skills/list')) as {
    skills: { uri: string; resources: { uri: string; digest: string }[] }[]
  }
  expect(skills).toHaveLength(6)
  for (const skill of skills) {
    expect(skill.resources[0]?.uri).toBe(skill.uri)
    for (const { uri, digest } of skill.resources) expect(`sha256:${sha256(await textAt(client, uri))}`).toBe(digest)
  }
  const uri = 'skill://noted/SKILL.md'
  const entry = skills.find(skill => skill.uri === uri)
  expect(entry).toMatchObject({ frontmatter: { name: 'noted' } })
  expect(await ask(client, 'skills/get', { uri })).toMatchObject({ skill: entry })
  expect(await ask(client, 'resources/directory/read', { uri: 'skill://noted' })).toMatchObject({
    resources: [{ uri }, { uri: 'skill://noted/extra.txt', name: 'extra.txt' }],
  })
  for (const [method, wrong] of [
    ['skills/get', 'skill://nobody/SKILL.md'],
    ['skills/get', 'skill://noted/extra.txt'],
    ['resources/directory/read', 'skill://noted/SKILL.md'],
  ] as const)
    await expect(ask(client, method, { uri: wrong })).rejects.toMatchObject({ code: -32602 })
})

verifies('skills.prompts', async test => {
  const { client } = test
  skillIn(test, 'greeting')
  await client.text('skill_add', { path: 'greeting' })
  const { prompts } = await client.client.listPrompts()
  expect(prompts.find(({ name }) => name === 'greeting')).toMatchObject({ arguments: [{ name: 'arguments', required: false }] })
  const prompt = await client.client.getPrompt({ name: 'greeting', arguments: { arguments: 'a smile' } })
  expect(prompt.messages[0]?.content).toMatchObject({ type: 'text', text: expect.stringContaining('Do greeting with a smile.') })
  const instructions = await client.client.getPrompt({ name: 'workspace-instructions' })
  expect(JSON.stringify(instructions)).toContain('- greeting: Does greeting.')
  const ref = { type: 'ref/resource' as const, uri: 'skill://{skill}/{+path}' }
  const names = await client.client.complete({ ref, argument: { name: 'skill', value: 'g' } })
  expect(names.completion.values).toEqual(['git-worktrees', 'greeting'])
  const paths = { ref, argument: { name: 'path', value: 'S' }, context: { arguments: { skill: 'greeting' } } }
  expect((await client.client.complete(paths)).completion.values).toEqual(['SKILL.md'])
  await expect(client.client.getPrompt({ name: 'nobody' })).rejects.toMatchObject({ code: -32602 })
})

verifies('skills.changed', async ({ client }) => {
  const told: string[] = []
  client.client.fallbackNotificationHandler = async ({ method }) => void told.push(method)
  const base = baseOf(await client.text('Skill', { skill: 'git-worktrees' }))
  await client.client.listPrompts()
  await client.text('Bash', {
    command: `cd '${base}/..' && mkdir fresh && printf -- '---\\nname: fresh\\ndescription: d\\n---\\nx\\n' > fresh/SKILL.md`,
  })
  for (const kind of ['prompts', 'resources'])
    await until(() => told.includes(`notifications/${kind}/list_changed`), `the client is told of ${kind}`, 20_000)
  expect((await client.client.listPrompts()).prompts.map(({ name }) => name)).toContain('fresh')
})
