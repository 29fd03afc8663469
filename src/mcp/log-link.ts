import { contains } from '../lib/paths.ts'
import type { LogReference } from '../tools/tool.ts'
import { jobLog, layoutOf } from '../workspace/layout.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { workspaceUri } from '../workspace/workspace-uri.ts'

type Params = Record<string, unknown>

/** A result with a link to a log, for clients that follow links; one outside the workspace's root has none. */
export function withLogLink(result: Params, log: LogReference | undefined, { info: { root } }: Pick<Workspace, 'info'>): Params {
  if (log === undefined || root === '') return result
  const path = log.path ?? jobLog(layoutOf(root), log.job)
  if (!contains(root, path)) return result
  const content = Array.isArray(result.content) ? result.content : []
  // The log's folder is named after its job.
  const job = path.split('/').at(-2)
  const link = {
    ...{ type: 'resource_link', uri: workspaceUri('', path.slice(root.replace(/\/$/, '').length + 1)) },
    ...{ name: `${job}-log`, title: `Log of job ${job}`, mimeType: 'text/plain' },
    ...(log.bytes !== undefined && { size: log.bytes }),
  }
  return { ...result, content: [...content, link] }
}
