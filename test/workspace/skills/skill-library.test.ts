import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Logger } from '../../../src/lib/log.ts'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { names, Place, skillText } from './place.ts'

/** The skills of real workspaces, each behind a gateway of this test's own. */
let place: Place

beforeAll(() => {
  place = new Place()
}, 120_000)
afterAll(() => place.end(), 60_000)

const listed = async (workspace: Workspace, agent = '') => (await workspace.skills.list(agent)).skills.map(skill => skill.name)

const stagingOf = (workspace: Workspace) => names(join(workspace.info.root, '.atelier/staging'))

describe('partitions', () => {
  it('are equipped from the seeds at the first use, and not before', async () => {
    const seeds = place.write('seeds-a', { 'one/SKILL.md': skillText('one'), 'one/scripts/run.sh': 'echo hi\n' })
    chmodSync(join(seeds, 'one/scripts/run.sh'), 0o755)
    const workspace = await place.open({ seeds: [seeds] })
    const folder = join(workspace.info.root, 'skills')
    expect(names(folder)).toEqual([])
    const { skills, skipped } = await workspace.skills.list('')
    expect(skipped).toEqual([])
    expect(skills.map(({ name, dir }) => [name, dir])).toEqual([
      ['one', join(folder, 'default/one')],
      ['placeholder', join(folder, 'default/placeholder')],
    ])
    expect(names(folder)).toEqual(['.seed', 'default'])
    expect(await listed(workspace, 'alice')).toEqual(['one', 'placeholder'])
    expect(statSync(join(folder, 'alice/one/scripts/run.sh')).mode & 0o777).toBe(0o755)
    expect(stagingOf(workspace)).toEqual([])
  })

  it('are private: what one agent changes or removes, no other sees', async () => {
    const workspace = await place.open({ seeds: [place.write('seeds-b', { 'one/SKILL.md': skillText('one') })] })
    await workspace.skills.list('alice')
    await workspace.skills.remove('alice', 'one')
    const { skill } = await workspace.skills.add('alice', { hostPath: place.write('two', { 'SKILL.md': skillText('two') }) })
    expect(skill.name).toBe('two')
    expect(await listed(workspace, 'alice')).toEqual(['placeholder', 'two'])
    expect(await listed(workspace, 'bob')).toEqual(['one', 'placeholder'])
  })

  it('keep deleted what an agent deleted, by tool or by hand, in a later opening too', async () => {
    const seeds = place.write('seeds-c', { 'one/SKILL.md': skillText('one'), 'two/SKILL.md': skillText('two') })
    const workspace = await place.open({ name: 'kept', seeds: [seeds] })
    await workspace.skills.remove('', 'one')
    rmSync(join(workspace.info.root, 'skills/default/two'), { recursive: true })
    await workspace.close()
    expect(await listed(await place.open({ name: 'kept', seeds: [seeds] }))).toEqual(['placeholder'])
  })

  it('start anew after a purge, and after a reset', async () => {
    const workspace = await place.open()
    await workspace.skills.remove('', 'placeholder')
    expect(await listed(workspace)).toEqual([])
    await workspace.skills.purgeAgent('')
    expect(await listed(workspace)).toEqual(['placeholder'])
    await workspace.skills.remove('', 'placeholder')
    await workspace.reset()
    expect(await listed(workspace)).toEqual(['placeholder'])
  })

  it('never lead out of their folder, whatever the agent is called', async () => {
    const workspace = await place.open()
    for (const agent of ['../../evil', '.seed', 'a/b', '..']) {
      const [skill] = (await workspace.skills.list(agent)).skills
      expect(skill?.name).toBe('placeholder')
      expect(skill?.dir).toMatch(/\/skills\/(?!\.seed)[^/]+\/placeholder$/)
      expect(skill?.dir.startsWith(join(workspace.info.root, 'skills/'))).toBe(true)
    }
    expect(names(workspace.info.root)).not.toContain('evil')
  })

  it('are made once by many callers at the same time', async () => {
    const workspace = await place.open()
    const all = await Promise.all(Array.from({ length: 8 }, () => listed(workspace)))
    expect(all).toEqual(Array.from({ length: 8 }, () => ['placeholder']))
    expect(stagingOf(workspace)).toEqual([])
  })
})

describe('seeds', () => {
  it('take the newer version of what Atelier put there, and leave what somebody changed', async () => {
    const seed = (description: string) => place.write('seeds-d', { 'one/SKILL.md': skillText('one', description) })
    const seeds = seed('The first version of it.')
    const workspace = await place.open({ name: 'newer', seeds: [seeds] })
    await workspace.skills.list('')
    await workspace.close()
    seed('The second version of it.')
    const again = await place.open({ name: 'newer', seeds: [seeds] })
    const seedFolder = join(again.info.root, 'skills/.seed')
    const [one] = (await again.skills.list('alice')).skills
    expect(one?.description).toBe('The second version of it.')
    expect(names(seedFolder)).toEqual(['one', 'placeholder'])
    await again.close()
    writeFileSync(join(seedFolder, 'one/SKILL.md'), skillText('one', 'Changed by hand.'))
    seed('The third version of it.')
    const last = await place.open({ name: 'newer', seeds: [seeds] })
    expect(await listed(last, 'carol')).toEqual(['one', 'one (1)', 'placeholder'])
  })

  it('that are unusable are told to the log, and hide no other', async () => {
    const seeds = place.write('seeds-e', { 'bad/SKILL.md': '---\nname: bad\n---\n', 'good/SKILL.md': skillText('good') })
    const said: object[] = []
    const quiet = () => {}
    const logger: Logger = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: fields => void said.push(fields),
      child: () => logger,
    }
    const workspace = await place.open({ seeds: [seeds, join(place.folder, 'nowhere')], logger })
    expect(await listed(workspace)).toEqual(['good', 'placeholder'])
    expect(said).toEqual([
      expect.objectContaining({ path: join(place.folder, 'nowhere') }),
      expect.objectContaining({ path: join(seeds, 'bad/SKILL.md'), rule: 'the frontmatter has no description' }),
    ])
  })

  it('come from the layout before partitions too', async () => {
    const workspace = await place.open()
    const folder = join(workspace.info.root, 'skills')
    mkdirSync(join(folder, 'hello'), { recursive: true })
    writeFileSync(join(folder, 'hello/SKILL.md'), skillText('hello skill!'))
    writeFileSync(join(folder, '.skills'), '{"skills_dir_mtime": 0.0, "skills": {}}')
    expect(await listed(workspace)).toEqual(['hello skill!', 'placeholder'])
    expect(names(folder)).toEqual(['.seed', 'default'])
    expect(names(join(folder, '.seed'))).toEqual(['.index', 'hello', 'placeholder'])
  })
})

describe('adding', () => {
  it('takes a folder of the workspace, or its SKILL.md, and leaves links behind', async () => {
    const workspace = await place.open()
    const folder = join(workspace.info.workdir, 'made')
    mkdirSync(join(folder, '.git'), { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), skillText('made'))
    writeFileSync(join(folder, '.git/config'), 'x')
    symlinkSync('/etc/passwd', join(folder, 'passwords'))
    const done = await workspace.skills.add('', { path: 'made/SKILL.md' })
    expect(done).toMatchObject({ added: true, left: ['passwords'], skill: { name: 'made', folder: 'made' } })
    expect(names(done.skill.dir)).toEqual(['SKILL.md'])
    expect(await workspace.skills.add('', { path: 'made' })).toMatchObject({ added: false, skill: { folder: 'made' } })
    writeFileSync(join(folder, 'more.txt'), 'x')
    await expect(workspace.skills.add('', { path: 'made' })).rejects.toMatchObject({ code: 'already_exists' })
  })

  it('gives a number to a name, and to a folder, that is taken', async () => {
    const workspace = await place.open()
    const hello = (n: number) => ({
      hostPath: place.write(`hello-${n}`, { 'SKILL.md': skillText('hello skill!', `Says hello, way ${n}.`) }),
    })
    const first = await workspace.skills.add('', hello(1))
    const second = await workspace.skills.add('', hello(2))
    expect([first.skill, second.skill].map(({ name, folder }) => [name, folder])).toEqual([
      ['hello skill!', 'hello_skill_'],
      ['hello skill! (1)', 'hello_skill__1'],
    ])
    expect(first.skill.warnings).toHaveLength(1)
    await workspace.skills.remove('', 'hello skill!')
    expect(await listed(workspace)).toEqual(['hello skill! (1)', 'placeholder'])
    const index = JSON.parse(readFileSync(join(workspace.info.root, 'skills/default/.index'), 'utf8'))
    expect(Object.keys(index)).toEqual(['skills_dir_mtime', 'skills'])
    expect(index.skills.hello_skill__1).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      skill_name: 'hello skill! (1)',
    })
  })

  it('refuses what is no skill, and what is neither here nor allowed', async () => {
    const allowed = place.write('allowed', { 'fine/SKILL.md': skillText('fine') })
    const workspace = await place.open({ seeds: [allowed] })
    const bad = place.write('bad', { 'SKILL.md': '# no header\n' })
    await expect(workspace.skills.add('', { hostPath: bad })).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(workspace.skills.add('', { path: '.' })).rejects.toThrow(/no SKILL\.md/)
    await expect(workspace.skills.add('', { path: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' })
    expect(stagingOf(workspace)).toEqual([])
    expect(await listed(workspace)).toEqual(['fine', 'placeholder'])
  })

  it('stays inside a confined workspace, but for what the operator allows', async () => {
    const allowed = place.write('allowed-too', { 'fine/SKILL.md': skillText('fine') })
    const workspace = await place.open({ confine: 'workdir', seeds: [allowed] })
    expect(await workspace.skills.add('', { path: join(allowed, 'fine') })).toMatchObject({ added: false })
    const outside = place.write('outside', { 'SKILL.md': skillText('outside') })
    await expect(workspace.skills.add('', { path: outside })).rejects.toMatchObject({ code: 'permission_denied' })
    expect(await listed(workspace)).toEqual(['fine', 'placeholder'])
  })
})

describe('loading', () => {
  it('gives the body, and the files with their hashes', async () => {
    const seeds = place.write('seeds-f', { 'one/SKILL.md': skillText('one'), 'one/a/b.txt': 'b' })
    const workspace = await place.open({ seeds: [seeds] })
    const skill = await workspace.skills.load('', 'one')
    expect(skill).toMatchObject({ body: 'Do one.\n', frontmatter: { name: 'one' } })
    const files = await workspace.skills.files(skill, { hash: true })
    expect(files?.map(({ path }) => path)).toEqual(['SKILL.md', 'a/b.txt'])
    expect(files?.[1]?.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(Buffer.from(await workspace.skills.read(skill, 'a/b.txt')).toString()).toBe('b')
  })

  it('names what there is where a name is wrong, and why one was skipped', async () => {
    const workspace = await place.open({ seeds: [place.write('seeds-g', { 'one/SKILL.md': skillText('one') })] })
    await workspace.skills.list('')
    const folder = join(workspace.info.root, 'skills/default')
    mkdirSync(join(folder, 'broken'))
    writeFileSync(join(folder, 'broken/SKILL.md'), '---\nname: broken\n---\n')
    const wrong = workspace.skills.load('', 'onee')
    await expect(wrong).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('Did you mean "one"?') })
    await expect(workspace.skills.load('', 'broken')).rejects.toThrow(/no description/)
    const { skipped } = await workspace.skills.list('')
    expect(skipped).toEqual([
      {
        path: join(folder, 'broken/SKILL.md'),
        rule: 'the frontmatter has no description',
        fix: expect.stringContaining('description:'),
      },
    ])
  })

  it('follows no link out of a skill', async () => {
    const workspace = await place.open()
    const skill = await workspace.skills.load('', 'placeholder')
    symlinkSync('/etc/passwd', join(skill.dir, 'passwords'))
    for (const path of ['passwords', '../../../.atelier/seeds.json', '../..', ''])
      await expect(workspace.skills.read(skill, path)).rejects.toThrow(/no file|outside/)
  })

  it('tells a change on disk by another version', async () => {
    const workspace = await place.open()
    expect(await workspace.skills.version('')).toBe('none')
    expect(existsSync(join(workspace.info.root, 'skills'))).toBe(false)
    const { dir } = await workspace.skills.load('', 'placeholder')
    const before = await workspace.skills.version('')
    expect(await workspace.skills.version('')).toBe(before)
    writeFileSync(join(dir, 'extra.txt'), 'x')
    expect(await workspace.skills.version('')).not.toBe(before)
  })
})
