import type { NestedStatus } from '../workspace/nested-servers/port.ts'
import type { ShownTool } from './nested-tools.ts'
import { count } from './units.ts'

const MAX_NAMES = 40

/** One server for a model to read: name, state and why, what it was started from, what it says of itself. */
export function serverText(server: NestedStatus): string {
  const { name, state, reason, tools, inFlight, expose, instructions, stderrTail, warnings } = server
  const facts = [
    reason === undefined ? state : `${state}: ${reason}`,
    ...(tools === undefined ? [] : [count(tools, 'tool')]),
    ...(expose === 'prefixed' ? [] : [expose]),
    ...(inFlight === 0 ? [] : [`${count(inFlight, 'call')} in flight`]),
  ]
  const more = [
    `  from: ${originText(server)}`,
    ...(instructions ? [`  instructions: ${indented(instructions)}`] : []),
    ...(state === 'failed' && stderrTail ? [`  stderr: ${indented(stderrTail.trimEnd())}`] : []),
    ...warnings.map(warning => `  note: ${warning}`),
  ]
  return [`${name}: ${facts.join(', ')}`, ...more].join('\n')
}

function originText({ declaration: { command, args = [], url }, source }: NestedStatus): string {
  const what =
    url ?? [command ?? '', ...args].map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')
  return source === 'config' ? `${what} (configured)` : what
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n    ')
}

/** The tools of a server with their schemas, for clients that do not see them in their own list. */
export function toolsText(server: string, tools: readonly ShownTool[]): string {
  const each = tools.map(({ name, shown, description = '', inputSchema }) => {
    const called = shown === undefined || shown === name ? name : `${name} (listed as ${shown})`
    return `${called}: ${description}\n  arguments: ${JSON.stringify(inputSchema)}`
  })
  return [`${count(tools.length, 'tool')} of ${server}, for mcp_call or by their listed names:`, ...each].join('\n')
}

/** Names under which tools are listed, as far as they fit a line or two. */
export function namesText(tools: readonly ShownTool[]): string {
  const names = tools.map(({ name, shown = name }) => shown)
  const rest = names.length - MAX_NAMES
  return rest <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMES).join(', ')} and ${rest} more`
}
