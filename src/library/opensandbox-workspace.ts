import type { OpenSandboxSettings } from '../backends/opensandbox/settings.ts'
import type { ReadDefaults } from './defaults.ts'
import { openSingle, type SingleOptions } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

/** `opensandbox`: what the configuration calls so; it goes over the configuration, key by key. */
export interface OpenSandboxWorkspaceOptions extends Omit<SingleOptions, 'directory' | 'layout'> {
  opensandbox?: OpenSandboxSettings
}

/** A sandbox of an OpenSandbox server. */
export class OpenSandboxWorkspace extends WorkspaceHandle {
  constructor({ opensandbox, ...common }: OpenSandboxWorkspaceOptions, read: ReadDefaults) {
    const settings = opensandbox === undefined ? {} : { opensandbox }
    super(() => openSingle(common, read, { backend: 'opensandbox', className: 'OpenSandboxWorkspace', settings }))
  }
}
