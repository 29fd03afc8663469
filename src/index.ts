import { backendSettings } from './config/backends/backend-settings.ts'
import { loadConfig } from './config.ts'
import { DaytonaWorkspace as Daytona, type DaytonaWorkspaceOptions } from './library/daytona-workspace.ts'
import type { LibraryDefaults } from './library/defaults.ts'
import { DockerWorkspace as Docker, type DockerWorkspaceOptions } from './library/docker-workspace.ts'
import { E2BWorkspace as E2B, type E2BWorkspaceOptions } from './library/e2b-workspace.ts'
import { K8sWorkspace as K8s, type K8sWorkspaceOptions } from './library/k8s-workspace.ts'
import { LocalWorkspace as Local, type LocalWorkspaceOptions } from './library/local-workspace.ts'
import { OpenSandboxWorkspace as OpenSandbox, type OpenSandboxWorkspaceOptions } from './library/opensandbox-workspace.ts'
import { WorkspaceManager as Manager, type WorkspaceManagerOptions } from './library/workspace-manager.ts'

export type { BackendName, EnvironmentInfo, EnvironmentState } from './backends/backend.ts'
export type { DockerProfile } from './backends/docker/profile.ts'
export { ERROR_CODES, type ErrorCode, WorkspaceError } from './lib/errors.ts'
export type { Logger } from './lib/log.ts'
export type { DaytonaWorkspaceOptions } from './library/daytona-workspace.ts'
export type { CommonOptions } from './library/defaults.ts'
export type { DockerOptions, DockerWorkspaceOptions } from './library/docker-workspace.ts'
export type { E2BWorkspaceOptions } from './library/e2b-workspace.ts'
export type { K8sWorkspaceOptions } from './library/k8s-workspace.ts'
export type { LocalWorkspaceOptions } from './library/local-workspace.ts'
export type { OpenSandboxWorkspaceOptions } from './library/opensandbox-workspace.ts'
export type { ArchiveInput, SkillArchiveOptions, SkillOptions } from './library/skill-options.ts'
export type { ToolCallOptions, ToolContent, ToolResult, WorkspaceTool } from './library/tool-client.ts'
export type { WorkspaceTransport } from './library/transport.ts'
export type { WorkspaceHandle } from './library/workspace-handle.ts'
export type { Asker, WorkspaceManagerOptions } from './library/workspace-manager.ts'
export type { McpScope } from './library/workspace-roles.ts'
export type { IsolationPolicy, Scope } from './manager/scope.ts'
export type { CreateRequest } from './tools/workspace-directory.ts'
export type { WorkspaceLimits } from './workspace/limits.ts'
export type { NestedStatus, ServerDeclaration } from './workspace/nested-servers/port.ts'
export type {
  OffloadEntry,
  Offloaded,
  OffloadedBlock,
  OffloadedContext,
  Offloader,
  SweepOptions,
} from './workspace/offload/offloader.ts'
export type { Files, PortOptions, Search, Shell } from './workspace/ports.ts'
export type { AddedSkill, Skill, SkillListing, SkippedSkill } from './workspace/skills/port.ts'

/**
 * A directory on this host as a workspace: `await using ws = await new LocalWorkspace({ directory: '.' }).initialize()`. It is no
 * sandbox: commands run as the user of this process.
 */
export class LocalWorkspace extends Local {
  constructor(options: LocalWorkspaceOptions = {}) {
    super(options, readDefaults)
  }
}

/**
 * A container as a workspace: `await using ws = await new DockerWorkspace({ image: 'debian:12' }).initialize()`. Its files are kept
 * on this host when it is closed; `destroy()` takes them too.
 */
export class DockerWorkspace extends Docker {
  constructor(options: DockerWorkspaceOptions = {}) {
    super(options, readDefaults)
  }
}

/** An E2B sandbox as a workspace, found again by its metadata. It is paused when closed, with its files; `destroy()` ends it. */
export class E2BWorkspace extends E2B {
  constructor(options: E2BWorkspaceOptions = {}) {
    super(options, readDefaults)
  }
}

/** A Daytona sandbox as a workspace, found again by its labels. It is stopped when closed, with its files; `destroy()` deletes it. */
export class DaytonaWorkspace extends Daytona {
  constructor(options: DaytonaWorkspaceOptions = {}) {
    super(options, readDefaults)
  }
}

/** A Kubernetes Pod and its volume as a workspace. The Pod goes when it is closed, the volume stays; `destroy()` deletes both. */
export class K8sWorkspace extends K8s {
  constructor(options: K8sWorkspaceOptions = {}) {
    super(options, readDefaults)
  }
}

/** An OpenSandbox sandbox as a workspace, found again by its metadata. It is paused when closed; `destroy()` ends it. */
export class OpenSandboxWorkspace extends OpenSandbox {
  constructor(options: OpenSandboxWorkspaceOptions = {}) {
    super(options, readDefaults)
  }
}

/** Workspaces of many users, agents and sessions: `await using manager = new WorkspaceManager({ policy: 'per_agent' })`. */
export class WorkspaceManager extends Manager {
  constructor(options: WorkspaceManagerOptions = {}) {
    super(options, readDefaults)
  }
}

/** Data directory and environment of commands, as the `atelier` command would have them here. */
function readDefaults(): LibraryDefaults {
  const config = loadConfig({ mode: 'http' })
  return { dataDir: config.dataDir, hostEnv: config.hostEnv, ...backendSettings(config) }
}
