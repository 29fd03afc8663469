import { z } from 'zod'
import { text } from './arguments.ts'
import { defineTool } from './tool.ts'

/** Removes a skill of the agent's own partition. */
export const skillRemove = defineTool({
  name: 'skill_remove',
  title: 'Remove a skill',
  description: 'Removes one of your skills with its folder.',
  input: z.strictObject({ skill: text('Its name') }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  takesWorkspace: true,
  async run({ skill }, { agent, signal, workspace }) {
    const { skills } = await workspace()
    const { name, dir } = await skills.remove(agent, skill, { signal })
    return { text: `Removed the skill ${JSON.stringify(name)} (${dir}).` }
  },
})
