import type { Backend, Environment, EnvironmentInfo, EnvironmentSpec, EnvironmentUse } from '../backends/backend.ts'
import type { GatewayStatus } from '../gateway/protocol.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { gatewayBoot } from '../link/boot.ts'
import { connectGateway } from '../link/connect.ts'
import type { LinkEvents } from '../link/gateway-client.ts'
import { assertRemovable, closeHeld, destroyHeld, detachHeld } from './closing.ts'
import type { Confinement } from './confinement.ts'
import { EnvironmentLink } from './environment-link.ts'
import { createFiles } from './files.ts'
import type { WorkspaceLimits } from './limits.ts'
import { createNestedServers, type NestedSettings, NO_NESTED_SETTINGS } from './nested-servers/nested-servers.ts'
import type { NestedServers } from './nested-servers/port.ts'
import { createOffload } from './offload/offload.ts'
import type { Offload } from './offload/offloader.ts'
import type { Files, Search, Shell } from './ports.ts'
import { purgeAgent, purgeSession } from './purge.ts'
import type { Viewer } from './reading/port.ts'
import { createViewer } from './reading/viewer.ts'
import { resetWorkspace } from './reset.ts'
import { createSearch } from './search.ts'
import { createShell } from './shell.ts'
import type { Skills } from './skills/port.ts'
import { SkillLibrary } from './skills/skill-library.ts'
import { SkillSeeds } from './skills/skill-seeds.ts'
import { createWatches, type Watches } from './watches.ts'

export interface WorkspaceOptions {
  limits: WorkspaceLimits
  /** Initial environment of commands. */
  env: Record<string, string>
  /** See `ConnectOptions.owner`. */
  owner: string
  confine: 'workdir' | 'none'
  /** What a goodbye does: on stdio jobs end, elsewhere they go on. */
  goodbye: 'end' | 'detach'
  logger: Logger
  /** Once, when something was lost behind our back; the sentence is shown with the next answer. */
  onLost?(sentence: string): void
  /** See `ProvisionOptions`. */
  onProgress?(sentence: string): void
  /** Sentences of what was lost before it was opened; given with the first notices. */
  notices?: readonly string[]
  /** Skills that agents start with; absent: those that came with Atelier. */
  seeds?: SkillSeeds | undefined
  /** What the operator says about nested servers; absent: there are none but those that agents add. */
  nested?: NestedSettings | undefined
  /** See `ConnectOptions.cacheDir`. */
  cacheDir?: string | undefined
  /** Dials a gateway; absent: `connectGateway`. */
  connect?: typeof connectGateway
}

/** One open workspace. It holds its parts and nothing else; no part takes the whole workspace. */
export interface Workspace extends AsyncDisposable {
  readonly id: string
  readonly info: EnvironmentInfo
  readonly shell: Shell
  readonly files: Files
  readonly viewer: Viewer
  readonly search: Search
  readonly offload: Offload
  readonly skills: Skills
  readonly nested: NestedServers
  readonly watches: Watches
  /** Calls and streams in flight; a busy workspace is never closed by a timer. */
  readonly inFlight: number
  /** Its environment can't be reached any more: the next call would make or start it again. Costs nothing to ask. */
  readonly lost: boolean
  status(): Promise<GatewayStatus>
  /** What the environment uses; absent or empty where its backend can't tell. */
  usage?(): Promise<EnvironmentUse | undefined>
  /** Sentences about what was lost since they were last taken; each is given once. */
  takeNotices(): string[]
  forgetSession(session: string): Promise<void>
  /** Ends a session's nested servers and removes what it declared and offloaded. */
  purgeSession(scope: { agent: string; session: string }): Promise<void>
  /** Removes an agent's skills and nested servers. */
  purgeAgent(agent: string): Promise<void>
  /** Ends jobs, empties Atelier's own folders and sessions; the user's other files stay. */
  reset(): Promise<void>
  /** Says goodbye as configured and lets go; what runs inside goes on where goodbye is `detach`. */
  detach(): Promise<void>
  /** Ends jobs, then suspends the environment; while another link is attached it only detaches. */
  close(): Promise<{ notices: string[] }>
  /** `close`, then removes the environment with its data. */
  destroy(): Promise<void>
}

/** Makes or attaches the environment, dials its gateway in the background, and hands out the parts. */
export async function openWorkspace(backend: Backend, spec: EnvironmentSpec, options: WorkspaceOptions): Promise<Workspace> {
  const dial = dialer(options)
  const { gatewayIdleMs, jobMaxLifeMs, logMaxBytes } = options.limits
  const boot = gatewayBoot({ gatewayIdleMs, jobMaxLifeMs, logMaxBytes })
  const { onLost, onProgress, logger } = options
  const link = await EnvironmentLink.open(backend, { boot, ...spec }, { dial, onLost, onProgress, logger })
  return new OpenWorkspace(link, options)
}

function dialer({ connect = connectGateway, limits, owner, env, cacheDir, logger }: WorkspaceOptions) {
  const { graceMs, gatewayIdleMs, jobMaxLifeMs, logMaxBytes, reconnectMs } = limits
  const options = { owner, env, cacheDir, logger, graceMs, gatewayIdleMs, jobMaxLifeMs, logMaxBytes, reconnectMs }
  return (environment: Environment, events: LinkEvents) => connect(environment, { ...options, events })
}

class OpenWorkspace implements Workspace {
  readonly id: string
  readonly shell: Shell
  readonly files: Files
  readonly viewer: Viewer
  readonly search: Search
  readonly offload: Offload
  readonly skills: SkillLibrary
  readonly nested: NestedServers & { reset(): void }
  readonly watches: Watches & { dispose(): void }
  readonly #link: EnvironmentLink
  readonly #options: WorkspaceOptions
  readonly #earlier: string[]
  #closing: Promise<{ notices: string[] }> | undefined

  constructor(link: EnvironmentLink, options: WorkspaceOptions) {
    const { id, workdir, root } = link.info
    const place: Confinement = { confine: options.confine, workdir, root }
    this.id = id
    this.#link = link
    this.#options = options
    this.#earlier = [...(options.notices ?? [])]
    this.shell = createShell(link, options.limits)
    this.files = createFiles(link, place, options.limits)
    this.viewer = createViewer(this.files, { limits: options.limits })
    this.search = createSearch(link, place, options.limits)
    this.offload = createOffload(link, { root, workdir })
    const seeds = options.seeds ?? new SkillSeeds({ paths: [], logger: options.logger })
    this.skills = new SkillLibrary({ gateway: link, place, seeds })
    const { nested = NO_NESTED_SETTINGS, logger } = options
    this.nested = createNestedServers(link, link.news, { ...nested, root, logger, maxLive: options.limits.maxNestedServers })
    this.watches = createWatches(link, link.news, { connected: () => link.connected, place, logger })
  }

  get info(): EnvironmentInfo {
    return this.#link.info
  }

  get inFlight(): number {
    return this.#link.inFlight + this.nested.inFlight
  }

  get lost(): boolean {
    return this.#link.lost
  }

  status(): Promise<GatewayStatus> {
    return this.#link.call('info', {})
  }

  usage(): Promise<EnvironmentUse | undefined> {
    return this.#link.usage()
  }

  takeNotices(): string[] {
    return [...this.#earlier.splice(0), ...this.#link.takeNotices()]
  }

  async forgetSession(session: string): Promise<void> {
    await this.#link.call('session.forget', { session })
  }

  purgeSession(scope: { agent: string; session: string }): Promise<void> {
    return purgeSession(this, scope)
  }

  purgeAgent(agent: string): Promise<void> {
    return purgeAgent(this, agent)
  }

  async reset(): Promise<void> {
    await resetWorkspace(this.#link, this.info.root)
    this.skills.forget()
    this.nested.reset()
  }

  async detach(): Promise<void> {
    const held = await this.#retire()
    if (held !== undefined) await detachHeld(held, this.#options.goodbye)
  }

  close(): Promise<{ notices: string[] }> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<{ notices: string[] }> {
    const held = await this.#retire()
    return { notices: held === undefined ? [] : await closeHeld(held, this.#options.logger) }
  }

  async destroy(): Promise<void> {
    assertRemovable(this)
    const held = await this.#retire()
    if (held === undefined)
      throw new WorkspaceError('precondition_failed', `Workspace "${this.info.name}" is closed: not deleted.`, {
        hint: 'Open it, then delete it.',
      })
    await destroyHeld(held, this.#options.logger)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #retire(): ReturnType<EnvironmentLink['retire']> {
    this.nested.dispose()
    this.watches.dispose()
    return this.#link.retire()
  }
}
