import type { DockerSettings } from '../backends/docker/settings.ts'
import { given } from '../manager/targets.ts'
import type { ReadDefaults } from './defaults.ts'
import { openSingle, type SingleOptions } from './open-single.ts'
import { WorkspaceHandle } from './workspace-handle.ts'

/** Which engine, image and profile; what is left out is as the docker command and the configuration have it. */
export type DockerOptions = Omit<DockerSettings, 'env'>

export interface DockerWorkspaceOptions extends SingleOptions, DockerOptions {}

/** A container of a Docker engine. Its files are kept on this host, or in a volume where the engine is elsewhere. */
export class DockerWorkspace extends WorkspaceHandle {
  constructor(options: DockerWorkspaceOptions, read: ReadDefaults) {
    const { host, context, image, profile, profiles, ...common } = options
    const docker = given({ host, context, image, profile, profiles })
    super(() => openSingle(common, read, { backend: 'docker', className: 'DockerWorkspace', settings: { docker } }))
  }
}
