import type { E2bSettings } from '../backends/e2b/settings.ts'
import type { ReadDefaults } from './defaults.ts'
import { openSingle, type SingleOptions } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

/** `e2b`: what the configuration calls so; it goes over the configuration, key by key. */
export interface E2BWorkspaceOptions extends Omit<SingleOptions, 'directory' | 'layout'> {
  e2b?: E2bSettings
}

/** A sandbox of E2B. */
export class E2BWorkspace extends WorkspaceHandle {
  constructor({ e2b, ...common }: E2BWorkspaceOptions, read: ReadDefaults) {
    const settings = e2b === undefined ? {} : { e2b }
    super(() => openSingle(common, read, { backend: 'e2b', className: 'E2BWorkspace', settings }))
  }
}
