import type { EnvironmentInfo } from '../backends/backend.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Manager } from '../manager/manager.ts'
import type { Scope } from '../manager/scope.ts'
import { createSession } from '../mcp/session.ts'
import { renderInstructions } from '../workspace/instructions.ts'
import type { WorkspaceLimits } from '../workspace/limits.ts'
import type { Files, Search, Shell } from '../workspace/ports.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { type LeasedPorts, leasedPorts } from './leased-ports.ts'
import { pinnedManager } from './pinned-manager.ts'
import { ToolClient, type WorkspaceTool } from './tool-client.ts'
import { createTransport, type WorkspaceTransport } from './transport.ts'
import { WorkspaceRoles } from './workspace-roles.ts'

/** An opened workspace, as a class's own part hands it to the common one. */
export interface Opened {
  info: EnvironmentInfo
  scope: Scope
  manager: Manager
  limits: WorkspaceLimits
  logger: Logger
  /** Lets go of what was made for this workspace alone. */
  dispose(): Promise<void>
}

interface Live extends Opened, LeasedPorts {
  transports: Set<WorkspaceTransport>
  tools?: Promise<ToolClient>
}

/**
 * A workspace for programs: the same interface whatever the backend. It must be initialized first and may be after a close;
 * `await using` closes it. Several calls may run at once.
 */
export class WorkspaceHandle extends WorkspaceRoles implements AsyncDisposable {
  readonly #open: () => Promise<Opened>
  #opening: Promise<Live> | undefined
  #live: Live | undefined

  constructor(open: () => Promise<Opened>) {
    super()
    this.#open = open
  }

  /** Makes the workspace, or attaches to it. Idempotent; after a failure it may be called again. */
  async initialize(): Promise<this> {
    this.#opening ??= this.#start()
    await this.#opening
    return this
  }

  /** Id by which any host finds this workspace again. */
  get id(): string {
    return this.#opened().info.id
  }

  /** What is known of the environment since it was opened. */
  get info(): EnvironmentInfo {
    return this.#opened().info
  }

  /** Directory that commands and relative paths start in, as seen inside. */
  get workdir(): string {
    return this.#opened().info.workdir
  }

  get shell(): Shell {
    return this.#opened().shell
  }

  get files(): Files {
    return this.#opened().files
  }

  get search(): Search {
    return this.#opened().search
  }

  /** The tools that an agent gets, each with its JSON Schema and a `call`. Their shell state is one session's. */
  async listTools(): Promise<WorkspaceTool[]> {
    const live = this.#opened()
    live.tools ??= ToolClient.open(this.connect())
    return (await live.tools).list()
  }

  /** Instructions for an agent, from the default text or a template with `{backend}`, `{workdir}` and `{root}`. */
  getInstructions(template?: string): string {
    return renderInstructions(this.#opened().info, template)
  }

  /** A new MCP connection to this workspace within this process, for any MCP client; its shell state is its own. */
  connect(): WorkspaceTransport {
    const { manager, info, scope, limits, logger, transports } = this.#opened()
    const services = { manager: pinnedManager(manager, info.id), limits, logger }
    const transport = createTransport(
      send => createSession(services, { scope, send }),
      closed => transports.delete(closed),
    )
    transports.add(transport)
    return transport
  }

  /** Ends what runs and empties sessions, data and skills; all other files stay. */
  async reset(): Promise<void> {
    await this.held(workspace => workspace.reset())
  }

  /** Ends jobs and suspends the environment; its files stay. While another host is attached it only detaches. Safe twice. */
  async close(): Promise<void> {
    await this.#end(({ manager, scope, info }) => manager.close(scope, info.id))
  }

  /** Lets go and leaves everything running. Safe twice. */
  async detach(): Promise<void> {
    await this.#end(async () => {})
  }

  /** Ends jobs and removes the workspace with its files. Refuses (`permission_denied`) a directory that Atelier did not make. */
  async destroy(): Promise<void> {
    const { manager, scope, info } = this.#opened()
    await manager.destroy(scope, info.id)
    await this.#end(async () => {})
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #start(): Promise<Live> {
    try {
      const opened = await this.#open()
      const { manager, scope, info } = opened
      const acquire = () => manager.acquire(scope, { ref: info.id })
      this.#live = { ...opened, ...leasedPorts(acquire, info.workdir), transports: new Set() }
      return this.#live
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  async #end(how: (live: Live) => Promise<unknown>): Promise<void> {
    const live = await this.#opening?.catch(() => undefined)
    if (live === undefined || this.#live !== live) return
    this.#live = undefined
    this.#opening = undefined
    await Promise.all([...live.transports].map(transport => transport.close()))
    try {
      await how(live)
    } finally {
      await live.dispose()
    }
  }

  protected get agent(): string {
    return this.#opened().scope.agent
  }

  protected async held<T>(use: (workspace: Workspace) => Promise<T>): Promise<T> {
    const { manager, scope, info } = this.#opened()
    using lease = await manager.acquire(scope, { ref: info.id })
    return await use(lease.workspace)
  }

  #opened(): Live {
    if (this.#live !== undefined) return this.#live
    throw new WorkspaceError('precondition_failed', 'The workspace is not open.', {
      hint: 'Call initialize() first and wait for it.',
    })
  }
}
