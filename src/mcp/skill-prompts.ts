import { toWorkspaceError } from '../lib/errors.ts'
import type { Skill } from '../workspace/skills/port.ts'
import { withArguments } from '../workspace/skills/skill-arguments.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { SKILL_ICONS } from './icons.ts'

/** The one argument of a skill's prompt. */
export const SKILL_ARGUMENT = 'arguments'

/** A prompt for each skill, which puts its instructions into the conversation. */
export function skillPrompts(skills: readonly Skill[], taken: readonly string[]): Record<string, unknown>[] {
  return skills
    .filter(({ name }) => !taken.includes(name))
    .map(skill => ({
      name: skill.name,
      title: `Skill ${skill.name}`,
      description: skill.description,
      arguments: [
        { name: SKILL_ARGUMENT, title: 'Arguments', description: hintOf(skill) ?? 'What to apply it to.', required: false },
      ],
      icons: SKILL_ICONS,
    }))
}

/** The values that a skill's `argument-hint` offers for its first word, as in `add|remove NAME`. */
export function argumentsOffered(skill: Skill): string[] {
  const [, offered = ''] = /^[[<(]?([\w-]+(?:\|[\w-]+)+)[\])>]?(?:\s|$)/.exec(hintOf(skill) ?? '') ?? []
  return offered === '' ? [] : offered.split('|')
}

function hintOf({ frontmatter }: Skill): string | undefined {
  const hint = frontmatter['argument-hint']
  return typeof hint === 'string' && hint !== '' ? hint : undefined
}

/** The prompt of a skill; `undefined` where there is no skill of that name. */
export async function skillPrompt(
  workspace: Workspace,
  { agent, name, args, signal }: { agent: string; name: string; args: string; signal: AbortSignal },
): Promise<Record<string, unknown> | undefined> {
  try {
    const { skills } = workspace
    const skill = await skills.load(agent, name, { signal })
    const text = `Base directory of this skill: ${skill.dir}\n\n${withArguments(skill.body, args)}`
    return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] }
  } catch (error) {
    if (toWorkspaceError(error).code === 'not_found') return undefined
    throw error
  }
}
