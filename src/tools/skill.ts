import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import { withArguments } from '../workspace/skills/skill-arguments.ts'
import { optionalText, text } from './arguments.ts'
import { loadedSkillText } from './skill-text.ts'
import { defineTool } from './tool.ts'

/** Gives a skill's instructions, with its directory and files. */
export const skill = defineTool({
  name: 'Skill',
  title: 'Load a skill',
  description: 'Loads the instructions of a skill, with its base directory and files. skill_list shows which there are.',
  input: z.strictObject({
    skill: text('Its name'),
    arguments: optionalText('Text for its $ARGUMENTS'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  maxResultChars: 200_000,
  takesWorkspace: true,
  async run({ skill: name, arguments: args = '' }, { agent, signal, workspace }) {
    const { skills } = await workspace()
    const loaded = await skills.load(agent, name, { signal })
    const body = withArguments(loaded.body, args)
    if (body.trim() === '') throw new WorkspaceError('unavailable', `The skill ${JSON.stringify(name)} has no instructions.`)
    return { text: loadedSkillText({ ...loaded, body }, await skills.files(loaded, { signal })) }
  },
})
