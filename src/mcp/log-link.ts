import { contains } from '../lib/paths.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { workspaceUri } from '../workspace/workspace-uri.ts'

type Params = Record<string, unknown>

/** A result with a link to the log that its text names, for clients that follow links; `log` is its path in the workspace. */
export function withLogLink(result: Params, log: unknown, { info: { root } }: Pick<Workspace, 'info'>): Params {
  if (typeof log !== 'string' || root === '' || !contains(root, log)) return result
  const content = Array.isArray(result.content) ? result.content : []
  if (!content.some(({ type, text }) => type === 'text' && String(text).includes(log))) return result
  const uri = workspaceUri('', log.slice(root.replace(/\/$/, '').length + 1))
  return { ...result, content: [...content, { type: 'resource_link', uri, name: nameOf(log), mimeType: 'text/plain' }] }
}

/** The log's folder is named after its job. */
function nameOf(log: string): string {
  return log.split('/').slice(-2).join('-')
}
