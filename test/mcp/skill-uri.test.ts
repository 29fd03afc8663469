import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublished, resolveSkillUri, skillUri } from '../../src/mcp/skill-uri.ts'
import type { Skill } from '../../src/workspace/skills/port.ts'

const skill = (header: string, folder = header, name = header): Skill => ({
  ...{ name, folder, description: 'd', dir: `/s/${folder}`, frontmatter: { name: header }, warnings: [], updatedAt: 0 },
})

describe('URIs of skills', () => {
  it('end with the name in the header; a second one of that name has its folder in front', () => {
    const [first, second] = [skill('note'), skill('note', 'note_1', 'note (1)')]
    expect(skillUri(first, 'SKILL.md')).toBe('skill://note/SKILL.md')
    expect(skillUri(second, 'a b/ü.md')).toBe('skill://note_1/note/a%20b/%C3%BC.md')
    expect(skillUri(first)).toBe('skill://note')
    expect(resolveSkillUri('skill://note_1/note/SKILL.md', [first, second])).toMatchObject({ skill: second, path: 'SKILL.md' })
  })

  it('lead back to what they were made of', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter(text => text.trim() === text && !/^\.{1,2}$|\//.test(text))
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(parts => parts.join('/'))
    fc.assert(
      fc.property(name, path, (header, file) => {
        const one = skill(header, 'folder')
        expect(resolveSkillUri(skillUri(one, file), [skill('other'), one])).toMatchObject({ skill: one, path: file })
      }),
    )
  })

  it('never lead out of a skill', () => {
    for (const uri of [
      'skill://note/..',
      'skill://note/%2e%2e/x',
      'skill://note/a%2fb',
      'skill://note/./x',
      'skill://%',
      'skill://other/x',
    ])
      expect(resolveSkillUri(uri, [skill('note')])).toBeUndefined()
  })

  it('are published where the name follows the format', () => {
    expect([skill('a-1'), skill('Hello'), skill('a--b')].map(isPublished)).toEqual([true, false, false])
  })
})
