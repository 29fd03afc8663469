import { WorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'
import { skillsBlock } from '../workspace/skills/prompt-block.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { WORKSPACE_ICONS } from './icons.ts'
import { type MethodHandler, type QuickMethod, RpcError } from './method.ts'
import { acquire, type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS, isObject } from './shape.ts'
import { shownSkills } from './skill-access.ts'
import { skillPrompt, skillPrompts } from './skill-prompts.ts'

type Params = Record<string, unknown>

export const PROMPTS = [
  {
    name: 'workspace-instructions',
    title: 'How to work in this workspace',
    description: 'Where the workspace is, what its folders are for, which skills there are, and how to share it with others.',
    arguments: [
      { name: 'workspace', title: 'Workspace', description: 'Id or name; without it the current workspace.', required: false },
    ],
    icons: WORKSPACE_ICONS,
  },
]

const OWN_NAMES = PROMPTS.map(({ name }) => name)

/** `prompts/list`: our own, and one for each skill of the current workspace where it is open. */
export function listPrompts(context: SessionContext): QuickMethod {
  return async params => ({
    prompts: [...PROMPTS, ...skillPrompts(await shownSkills(context, scopeOf(context, params)), OWN_NAMES)],
  })
}

/** `prompts/get`: the instructions of a workspace, or those of a skill. */
export function getPrompt(context: SessionContext): MethodHandler {
  return async (params, { signal }) => {
    const { name } = params
    const args = isObject(params.arguments) ? params.arguments : {}
    return OWN_NAMES.includes(String(name))
      ? getInstructions(context, { params, args, signal })
      : getSkill(context, { params, args, signal })
  }
}

interface Asked {
  params: Params
  args: Params
  signal: AbortSignal
}

async function getInstructions(context: SessionContext, { params, args, signal }: Asked): Promise<Params> {
  refuseOdd('workspace-instructions', args, 'workspace')
  const ref = typeof args.workspace === 'string' && args.workspace !== '' ? args.workspace : undefined
  const scope = scopeOf(context, params)
  using lease = await acquire(context, scope, { ref, signal })
  const block = await skillsOf(context, lease.workspace, { agent: scope.agent, signal })
  const nested = await nestedInstructions(context, lease.workspace, scope)
  const text = [context.parts.instructions(lease.workspace.info), block, ...nested].filter(part => part !== '').join('\n')
  return { description: PROMPTS[0]!.description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}

/** What goes wrong with the skills is logged; the instructions are worth having without. */
async function skillsOf(
  context: SessionContext,
  workspace: Workspace,
  { agent, signal }: { agent: string; signal: AbortSignal },
): Promise<string> {
  try {
    return skillsBlock((await workspace.skills.list(agent, { signal })).skills)
  } catch (error) {
    context.services.logger.warn({ error: String(error) }, 'skills could not be listed')
    return ''
  }
}

/** What nested servers say of themselves. */
async function nestedInstructions(context: SessionContext, workspace: Workspace, scope: Scope): Promise<string[]> {
  try {
    const servers = await (await context.nestedTools(workspace, scope)).list()
    return servers.flatMap(({ name, instructions }) => (instructions ? [`\nThe MCP server ${name} says:\n${instructions}`] : []))
  } catch (error) {
    context.services.logger.warn({ error: String(error) }, 'nested servers could not be listed')
    return []
  }
}

async function getSkill(context: SessionContext, { params, args, signal }: Asked): Promise<Params> {
  const name = String(params.name)
  refuseOdd(name, args, 'arguments')
  const scope = scopeOf(context, params)
  using lease = await acquire(context, scope, { signal })
  const given = typeof args.arguments === 'string' ? args.arguments : ''
  const prompt = await skillPrompt(lease.workspace, { agent: scope.agent, name, args: given, signal })
  if (prompt !== undefined) return prompt
  throw new RpcError(
    INVALID_PARAMS,
    `There is no prompt "${name}". The prompts are ${OWN_NAMES.join(', ')} and the names of the skills.`,
  )
}

function refuseOdd(name: string, args: Params, known: string): void {
  const odd = Object.keys(args).find(key => key !== known)
  if (odd !== undefined) throw new WorkspaceError('invalid_argument', `The prompt ${name} has no argument "${odd}".`)
}
