import type { Logger } from '../lib/log.ts'
import type { Manager } from '../manager/manager.ts'
import type { WorkspaceLimits } from '../workspace/limits.ts'
import type { ListStore } from './nested/list-store.ts'

/** What every session of this process shares. */
export interface McpServices {
  manager: Manager
  limits: WorkspaceLimits
  logger: Logger
  /** The roots of a client are offered to it as workspaces: they are directories of this host. */
  clientRoots?: boolean
  /** Lists of nested servers from earlier runs, and whether the configuration declares any server. */
  nested?: { lists: ListStore; declared: boolean }
}
