import type { Skill } from './port.ts'

/** Characters of a description in the block: with the name about a hundred tokens a skill. */
const MAX_DESCRIPTION = 380

/** What an agent should know of its skills before it loads one; '' when there is none. */
export function skillsBlock(skills: readonly Skill[]): string {
  if (skills.length === 0) return ''
  const lines = skills.map(({ name, description }) => `- ${name}: ${shorten(description.replace(/\s+/g, ' '))}`)
  return `Skills are instructions for particular kinds of work. When one fits the task, load it with the Skill tool before you start:\n${lines.join('\n')}\n`
}

function shorten(text: string): string {
  const characters = Array.from(text)
  return characters.length <= MAX_DESCRIPTION ? text : `${characters.slice(0, MAX_DESCRIPTION - 1).join('')}…`
}
