import type { DaytonaSettings } from '../backends/daytona/settings.ts'
import type { ReadDefaults } from './defaults.ts'
import { openSingle, type SingleOptions } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

/** `daytona`: what the configuration calls so; it goes over the configuration, key by key. */
export interface DaytonaWorkspaceOptions extends Omit<SingleOptions, 'directory' | 'layout'> {
  daytona?: DaytonaSettings
}

/** A sandbox of Daytona. */
export class DaytonaWorkspace extends WorkspaceHandle {
  constructor({ daytona, ...common }: DaytonaWorkspaceOptions, read: ReadDefaults) {
    const settings = daytona === undefined ? {} : { daytona }
    super(() => openSingle(common, read, { backend: 'daytona', className: 'DaytonaWorkspace', settings }))
  }
}
