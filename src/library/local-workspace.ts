import type { ReadDefaults } from './defaults.ts'
import { openSingle, type SingleOptions } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

export interface LocalWorkspaceOptions extends SingleOptions {}

/** A directory on this host. It is no sandbox: commands run as the user of this process. */
export class LocalWorkspace extends WorkspaceHandle {
  constructor(options: LocalWorkspaceOptions, read: ReadDefaults) {
    super(() => openSingle(options, read, { backend: 'local', className: 'LocalWorkspace' }))
  }
}
