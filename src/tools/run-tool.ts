import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import { nearest } from '../lib/suggest.ts'
import { TOOLS } from './all-tools.ts'
import { checkArguments } from './check-arguments.ts'
import type { Tool, ToolAnswer, ToolContext } from './tool.ts'
import { unknownNestedTool } from './unknown-server.ts'

/**
 * Checks the arguments, runs the tool of that name and gives its answer. What went wrong is an error answer with its next step;
 * only faults of Atelier itself (`internal`) are thrown, for the caller to log and show.
 */
export async function runTool(name: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer> {
  try {
    return await answer(await toolNamed(name, context), args, context)
  } catch (thrown) {
    const error = toWorkspaceError(thrown)
    if (error.code === 'internal') throw error
    return { text: error.text, isError: true }
  }
}

async function answer(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer> {
  return tool.run(checkArguments(tool, args), context)
}

async function toolNamed(name: string, context: ToolContext): Promise<Tool> {
  const tool = TOOLS.find(known => known.name === name)
  if (tool !== undefined) return tool
  if (name.startsWith('mcp__')) throw await unknownNestedTool(name, await context.nested())
  const names = TOOLS.map(known => known.name)
  const near = nearest(name, names)
  throw new WorkspaceError('not_found', `There is no tool "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`}`, {
    hint: `The tools are: ${names.join(', ')}.`,
  })
}
