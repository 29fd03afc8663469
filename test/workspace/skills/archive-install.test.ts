import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Member, tar, tarGz, zip } from '../../support/archives.ts'
import { names, Place, skillText } from './place.ts'

/** Archives that become skills, or leave nothing behind. */
let place: Place

beforeAll(() => {
  place = new Place()
}, 120_000)
afterAll(() => place.end(), 60_000)

const SKILL: Member[] = [
  { name: 'packed/SKILL.md', content: skillText('packed') },
  { name: 'packed/run.sh', content: 'echo hi\n', mode: 0o100755 },
]
const FLAT = SKILL.map(member => ({ ...member, name: member.name.replace('packed/', '') }))

describe('an archive', () => {
  it.each([
    ['zip', zip(SKILL)],
    ['tar', tar(SKILL)],
    ['tar.gz', tarGz(SKILL)],
    ['flat zip', zip(FLAT)],
  ])('is installed: %s', async (_kind, archive) => {
    const workspace = await place.open()
    const { skill, added } = await workspace.skills.add('', { archive })
    expect([added, skill.name, skill.folder, names(skill.dir)]).toEqual([true, 'packed', 'packed', ['SKILL.md', 'run.sh']])
    expect(await workspace.skills.add('', { archive })).toMatchObject({ added: false })
    const other = zip([{ name: 'SKILL.md', content: skillText('packed', 'Another one of that name.') }])
    expect((await workspace.skills.add('', { archive: other })).skill).toMatchObject({ name: 'packed (1)', folder: 'packed_1' })
  })

  it('is taken from a file of the workspace', async () => {
    const workspace = await place.open({ confine: 'workdir' })
    writeFileSync(join(workspace.info.workdir, 'skill.tgz'), tarGz(SKILL))
    expect(await workspace.skills.add('', { path: 'skill.tgz' })).toMatchObject({ added: true, skill: { name: 'packed' } })
  })

  it.each<[string, Buffer, RegExp]>([
    ['without a SKILL.md', zip([{ name: 'a/readme.md', content: 'x' }]), /no SKILL\.md/],
    [
      'of two skills',
      zip([...SKILL, { name: 'other/SKILL.md', content: skillText('other') }]),
      /no SKILL\.md at its top, nor in a single/,
    ],
    ['with a bad header', zip([{ name: 'SKILL.md', content: '---\nname: x\n---\n' }]), /no description/],
    ['that leads out', tar([...SKILL, { name: '../evil', content: 'x' }]), /leads out/],
    ['that breaks off in a file', tar(SKILL).subarray(0, 700), /can not be read/],
    ['that is none', Buffer.from('hello world'), /neither zip nor tar/],
  ])('%s leaves nothing behind', async (_what, archive, why) => {
    const workspace = await place.open()
    await workspace.skills.list('')
    await expect(workspace.skills.add('', { archive })).rejects.toThrow(why)
    expect(names(join(workspace.info.root, 'skills/default'))).toEqual(['.index', 'placeholder'])
    expect(names(join(workspace.info.root, '.atelier/staging'))).toEqual([])
  })

  it('that expands too far is stopped on the way', async () => {
    const workspace = await place.open()
    const archive = zip([...SKILL, { name: 'packed/zeros', content: Buffer.alloc(5_000_000) }])
    await expect(workspace.skills.add('', { archive }, { maxBytes: 1_000_000 })).rejects.toMatchObject({ code: 'too_large' })
    expect(names(join(workspace.info.root, '.atelier/staging'))).toEqual([])
    expect(await workspace.skills.add('', { archive })).toMatchObject({ added: true })
  })
})
