import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { skillsBlock } from '../../../src/workspace/skills/prompt-block.ts'
import { withArguments } from '../../../src/workspace/skills/skill-arguments.ts'
import { parseIndex, renderIndex } from '../../../src/workspace/skills/skill-index.ts'
import { folderOf, free, isRegularName, judge } from '../../../src/workspace/skills/skill-rules.ts'

const header = (fields: Record<string, unknown>) => ({
  fields: { name: 'a', description: 'b', ...fields },
  body: '',
  warnings: [],
})
const warnings = (fields: Record<string, unknown>, folder?: string) => {
  const verdict = judge(header(fields), folder)
  return 'rule' in verdict ? verdict.rule : verdict.warnings
}

describe('the rules', () => {
  it.each([
    [{}, []],
    [{ license: 'MIT', compatibility: 'x', metadata: { a: 'b' }, 'allowed-tools': 'Bash Read', anything: 1 }, []],
    [{ name: 'Hello' }, [expect.stringContaining('lower-case')]],
    [{ name: 'a'.repeat(65) }, [expect.stringContaining('65 characters')]],
    [{ description: 'd'.repeat(1_025) }, [expect.stringContaining('1025 characters')]],
    [{ compatibility: 'c'.repeat(501) }, [expect.stringContaining('501 characters')]],
    [{ compatibility: '' }, ['compatibility should be a text.']],
    [{ license: 1 }, ['license should be a text.']],
    [{ metadata: { version: 1 } }, ['metadata should map texts to texts.']],
    [{ 'allowed-tools': ['Bash'] }, [expect.stringContaining('one text')]],
    [{ name: '' }, 'the frontmatter has no name'],
    [{ name: null }, 'the frontmatter has no name'],
    [{ description: '  ' }, 'the frontmatter has no description'],
    [{ description: ['x'] }, 'the frontmatter has no description'],
  ])('of %j', (fields, expected) => {
    expect(warnings(fields)).toEqual(expected)
  })

  it('want the folder to have the name, but for characters and numbers that tell two apart', () => {
    expect(warnings({ name: 'note' }, 'note_12')).toEqual([])
    expect(warnings({ name: 'note' }, 'other')).toEqual([expect.stringContaining('differs from its folder')])
  })

  it.each([
    ['a', true],
    ['a-b-9', true],
    ['-a', false],
    ['a-', false],
    ['a--b', false],
    ['A', false],
    ['', false],
  ])('take %j as a name: %s', (name, regular) => {
    expect(isRegularName(name)).toBe(regular)
  })
})

describe('folders', () => {
  it('have no character of a name that could lead anywhere', () => {
    expect(['hello skill!', '../x', '技能 1', 'a/b\\c', '.'].map(folderOf)).toEqual([
      'hello_skill_',
      '___x',
      '技能_1',
      'a_b_c',
      '_',
    ])
    const anything = fc.string({ unit: 'binary', minLength: 1 })
    fc.assert(fc.property(anything, name => /^[\p{L}\p{N}_-]+$/u.test(folderOf(name))))
  })

  it('get the first number that is free', () => {
    const taken = new Set(['a', 'a_1', 'a_3'])
    expect(
      free(
        'a',
        name => taken.has(name),
        n => `a_${n}`,
      ),
    ).toBe('a_2')
    expect(
      free(
        'b',
        name => taken.has(name),
        n => `b_${n}`,
      ),
    ).toBe('b')
  })
})

describe('arguments', () => {
  it('stand where the text says, taken as they are, or at its end', () => {
    expect(withArguments('Do $ARGUMENTS, then $ARGUMENTS.', " $& and '$1' ")).toBe("Do $& and '$1', then $& and '$1'.")
    expect(withArguments('Do it with $1.\n', 'care')).toBe('Do it with $1.\n\nArguments: care\n')
    expect(withArguments('Do it.\n', ' ')).toBe('Do it.\n')
  })
})

describe('the index', () => {
  it('is read back as it was written, and a broken one is none', () => {
    const entries = new Map([['a', { hash: 'h', name: 'A (1)' }]])
    expect(parseIndex(renderIndex(entries, 1_500))).toEqual(entries)
    for (const text of ['', '[]', '{"skills": 3}', '{"skills": {"a": {"hash": 1}}}', '{']) expect(parseIndex(text).size).toBe(0)
  })
})

describe('the prompt block', () => {
  it('has a line a skill, with a long description cut', () => {
    const skill = { name: 'a', description: `x\n${'y'.repeat(1_000)}` }
    const block = skillsBlock([skill] as never)
    expect(block.split('\n')).toHaveLength(3)
    expect(block).toMatch(/^- a: x y+…$/m)
    expect(block.length).toBeLessThan(550)
    expect(skillsBlock([])).toBe('')
  })
})
