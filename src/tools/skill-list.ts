import { z } from 'zod'
import { skillListText } from './skill-text.ts'
import { defineTool } from './tool.ts'

/** Lists the skills of the agent. */
export const skillList = defineTool({
  name: 'skill_list',
  title: 'List skills',
  description: 'Names and descriptions of your skills: instructions for particular kinds of work, to load with Skill.',
  input: z.strictObject({}),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takesWorkspace: true,
  async run(_, { agent, signal, workspace }) {
    const { skills } = await workspace()
    return { text: skillListText(await skills.list(agent, { signal })) }
  },
})
