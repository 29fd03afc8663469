import type { AddedSkill, LoadedSkill, Skill, SkillFile, SkillListing } from '../workspace/skills/port.ts'
import { skillsBlock } from '../workspace/skills/prompt-block.ts'
import { compose } from './compose.ts'

/** Files named before the list is cut. */
const MAX_FILES = 60
const MAX_BODY = 150_000

/** A skill as it goes into the agent's context: where it is, what it brings, what it says. */
export function loadedSkillText(skill: LoadedSkill, files: readonly SkillFile[] | undefined): string {
  const cut = skill.body.length > MAX_BODY
  const body = cut ? skill.body.slice(0, MAX_BODY) : skill.body
  return compose(`Base directory of this skill: ${skill.dir}\n${filesLine(skill, files)}\n\n${body.trimEnd()}`, [
    cut ? `the rest is in ${skill.dir}/SKILL.md: read it there` : undefined,
  ])
}

function filesLine(skill: Skill, files: readonly SkillFile[] | undefined): string {
  if (files === undefined) return `Files: too many to list; see ${skill.dir}`
  const names = files.map(file => file.path)
  const more = names.length > MAX_FILES ? `, … and ${names.length - MAX_FILES} more` : ''
  return `Files: ${names.slice(0, MAX_FILES).join(', ')}${more}`
}

/** What there is, then what is wrong with some of it. */
export function skillListText({ skills, skipped }: SkillListing): string {
  const block = skillsBlock(skills)
  const warned = skills.filter(({ warnings }) => warnings.length > 0)
  const parts = [
    block === '' ? 'There are no skills here. skill_add adds one.' : block.trimEnd(),
    ...(warned.length === 0 ? [] : [`Usable, but not by the rules:\n${warned.map(warningLine).join('\n')}`]),
    ...(skipped.length === 0
      ? []
      : [`Skipped:\n${skipped.map(({ path, rule, fix }) => `- ${path}: ${rule}. ${fix}`).join('\n')}`]),
  ]
  return parts.join('\n\n')
}

const warningLine = ({ name, warnings }: Skill): string => `- ${name}: ${warnings.join(' ')}`

/** What was added, or that it was there already. */
export function addedSkillText({ skill, added, left }: AddedSkill): string {
  const name = JSON.stringify(skill.name)
  const first = added
    ? `Added the skill ${name} in ${skill.dir}.`
    : `The skill ${name} is there already, in ${skill.dir}: nothing was changed.`
  return compose(first, [
    skill.warnings.length === 0 ? undefined : skill.warnings.join(' '),
    left.length === 0
      ? undefined
      : `Left out, being links or special files: ${left.slice(0, 20).join(', ')}${left.length > 20 ? ', …' : ''}`,
  ])
}
