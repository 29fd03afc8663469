import { z } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import type { SkillSource } from '../workspace/skills/port.ts'
import { optionalText } from './arguments.ts'
import { addedSkillText } from './skill-text.ts'
import { defineTool } from './tool.ts'

/** Adds a skill. */
export const skillAdd = defineTool({
  name: 'skill_add',
  title: 'Add a skill',
  description: 'Adds a skill (a folder with a SKILL.md) for later use: from a path, or from an archive.',
  input: z.strictObject({
    path: optionalText('Its folder or archive in the workspace'),
    archive: optionalText('A zip, tar or tar.gz in base64'),
    format: z.enum(['zip', 'tar', 'tar.gz']).optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takesWorkspace: true,
  async run({ path, archive, format }, { agent, signal, workspace }) {
    const source = sourceOf(path, archive, format)
    const { skills } = await workspace()
    return { text: addedSkillText(await skills.add(agent, source, { signal })) }
  },
})

function sourceOf(path?: string, archive?: string, format?: 'zip' | 'tar' | 'tar.gz'): SkillSource {
  if ((path === undefined) === (archive === undefined))
    throw new WorkspaceError('invalid_argument', 'skill_add needs either path or archive.', { hint: 'Give one of the two.' })
  return archive === undefined ? { path: path ?? '' } : { archive: decode(archive), format }
}

function decode(archive: string): Uint8Array {
  const text = archive.replace(/^data:[^,]*,/, '').replace(/\s+/g, '')
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return new Uint8Array(Buffer.from(text, 'base64'))
  throw new WorkspaceError('invalid_argument', 'The archive is no base64 text.', {
    hint: 'Encode its bytes, e.g. with base64 -w0.',
  })
}
