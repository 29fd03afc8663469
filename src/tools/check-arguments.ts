import type { ZodError } from 'zod'
import { WorkspaceError } from '../lib/errors.ts'
import { nearest } from '../lib/suggest.ts'
import { type ArgumentSchema, type InputSchema, toolSchema } from './schema.ts'
import type { Tool } from './tool.ts'

type Issue = ZodError['issues'][number]

/**
 * Arguments as the tool's `run` takes them; a `null` counts as not given. Throws `invalid_argument` that names each unknown,
 * missing or wrong argument, its value and what is allowed.
 */
export function checkArguments(tool: Tool, args: Record<string, unknown>): unknown {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined))
  if (tool.takesWorkspace) delete given.workspace
  const parsed = tool.input.safeParse(given)
  const wrongRef = tool.takesWorkspace && args.workspace != null && typeof args.workspace !== 'string'
  if (parsed.success && !wrongRef) return parsed.data
  const schema = toolSchema(tool)
  const problems = wrongRef ? [wrongText('workspace', args.workspace, schema)] : []
  for (const issue of parsed.error?.issues ?? []) problems.push(...issueText(issue, given, { tool: tool.name, schema }))
  throw new WorkspaceError('invalid_argument', problems.join('\n'), { hint: argumentList(tool.name, schema) })
}

function issueText(
  issue: Issue,
  given: Record<string, unknown>,
  { tool, schema }: { tool: string; schema: InputSchema },
): string[] {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    return issue.keys.map(key => unknownText(key, tool, Object.keys(schema.properties)))
  }
  const name = String(issue.path[0])
  if (!(name in given)) return [`Missing argument "${name}" of ${tool}: ${allowed(schema.properties[name])} is needed.`]
  return [wrongText(name, given[name], schema)]
}

function unknownText(key: string, tool: string, known: readonly string[]): string {
  const near = nearest(key, known)
  return `Unknown argument "${key}" of ${tool}.${near === undefined ? '' : ` Did you mean "${near}"?`}`
}

function wrongText(name: string, value: unknown, schema: InputSchema): string {
  const argument = schema.properties[name]
  const near = typeof value === 'string' && argument?.enum !== undefined ? nearest(value, argument.enum) : undefined
  return `Argument "${name}" is ${shown(value)}: ${allowed(argument, value)} is needed.${near === undefined ? '' : ` Did you mean "${near}"?`}`
}

function shown(value: unknown): string {
  const json = jsonOf(value)
  return json.length > 80 ? `${[...json.slice(0, 160)].slice(0, 79).join('')}…` : json
}

/** A value as JSON; one that is nested too deep for that by its kind. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(typeof value === 'string' ? value.slice(0, 160) : value)
  } catch {
    return Array.isArray(value) ? '[[[…' : '{{{…'
  }
}

function allowed(argument: ArgumentSchema | undefined, value?: unknown): string {
  if (argument?.enum !== undefined) return `one of ${argument.enum.map(value => `"${value}"`).join(', ')}`
  switch (argument?.type) {
    case 'integer':
      return argument.minimum === undefined ? 'a whole number' : `a whole number from ${argument.minimum}`
    case 'boolean':
      return 'true or false'
    case 'object':
      return 'an object with text values'
    case 'array':
      return argument.items?.type === 'object' ? 'a list of objects' : 'a list of texts'
    default:
      return value === '' ? 'text that is not empty' : 'text'
  }
}

function argumentList(tool: string, { properties, required = [] }: InputSchema): string {
  const names = Object.keys(properties)
  if (names.length === 0) return `${tool} takes no arguments.`
  return `Arguments of ${tool}: ${names.map(name => (required.includes(name) ? `${name} (required)` : name)).join(', ')}.`
}
