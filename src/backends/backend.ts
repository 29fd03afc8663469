import type { Duplex } from 'node:stream'

export const BACKEND_NAMES = ['local', 'docker', 'e2b', 'daytona', 'kubernetes', 'opensandbox'] as const
export type BackendName = (typeof BACKEND_NAMES)[number]

export type WorkspaceId = string

export interface CallOptions {
  signal?: AbortSignal | undefined
}

export interface ProvisionOptions extends CallOptions {
  /** Gets a sentence now and then about what takes long, e.g. how much of an image was pulled. */
  onProgress?: ((sentence: string) => void) | undefined
}

/** Who an environment belongs to. Written as labels at creation. */
export interface Owner {
  user: string
  agent: string
  session: string
}
export type OwnerFilter = Partial<Owner>

/** What to make, or to attach to when it is there. */
export interface EnvironmentSpec {
  id: WorkspaceId
  /** Name that the owner knows it by. */
  name: string
  owner: Owner
  /** Host directory to work in, for `local` and a bind-mounting `docker` alone. Absent: the backend makes one. */
  directory?: string
  /** `workdir`: Atelier's own folders lie in `directory` itself, as in AgentScope's workspaces. Only with `directory`. */
  layout?: 'workdir'
  image?: string
  profile?: string
  env?: Record<string, string>
  ttlMs?: number
  /** Gives what must be there before the start; a backend that can makes `argv` the environment's main process. */
  boot?: (place: BootPlace) => Promise<Boot>
}

/** Where a backend puts the gateway, as seen inside. */
export interface BootPlace {
  /** The node to run it with. */
  node: string
  /** Folder for the files. */
  folder: string
  /** Private folder for the gateway's socket. */
  dir: string
  workdir: string
  root: string
}

export interface Boot {
  /** With paths relative to the folder. */
  files: readonly UploadFile[]
  argv: readonly string[]
}

export interface UploadFile {
  path: string
  data: Uint8Array
  /** Permission bits, e.g. 0o755. */
  mode: number
}

export type EnvironmentState = 'running' | 'suspended' | 'gone' | 'unknown'

export interface EnvironmentInfo {
  id: WorkspaceId
  backend: BackendName
  name: string
  owner: Owner
  state: EnvironmentState
  /** ISO 8601. */
  createdAt: string
  /** Directory that the agent works in, as seen inside. */
  workdir: string
  /** Directory that holds Atelier's own folders, as seen inside. */
  root: string
  /** Whether Atelier made the workdir (and `destroy` may remove it). */
  madeByAtelier: boolean
  /** Unix socket of the gateway where the host can dial it itself (`local`). */
  socket?: string
  /** The gateway that was put in before the start, and runs as the main process. */
  gateway?: { node: string; script: string; dir: string }
  /** The user's own directory on the host, where the workdir is a mount of it. */
  directory?: string
  /** Set where Atelier's own folders lie in a directory of the user's, as was asked for. */
  layout?: 'workdir'
  /** Another value means that the environment around the files was made again. */
  incarnation?: string
  /** Why it was not running when this call found it, as the end of a sentence. */
  ended?: string
  /** Variables that the environment was created with, for its commands. */
  env?: Record<string, string>
  /** What the backend alone knows (container id, Pod name, …), for people to read. */
  details: Record<string, string>
}

export interface ExecOptions extends CallOptions {
  timeoutMs?: number
  input?: Uint8Array
}
export interface ExecResult {
  exitCode: number
  stdout: Uint8Array
  stderr: Uint8Array
}

/** What an environment uses at the moment; what can't be known is left out. */
export interface EnvironmentUse {
  /** 100 is one CPU. */
  cpuPercent?: number
  memoryBytes?: number
  memoryLimitBytes?: number
  diskFreeBytes?: number
}

export interface ProbeStep {
  name: string
  ok: boolean
  detail: string
  hint?: string
  /** Without it things work all the same, only worse. */
  optional?: boolean
}

/** Something that nobody owns any more, as `prune` found it. */
export interface Leftover {
  /** What it is, for people: `container`, `sandbox`, `Pod`, … */
  kind: string
  /** Its name or id at the service. */
  name: string
  /** `suspend`: it costs without being used, and holds files that stay. */
  action: 'remove' | 'suspend'
  /** Why, as the end of a sentence. */
  reason: string
}

/** Makes, finds and lists environments of one kind. Knows nothing of tools, skills or MCP. */
export interface Backend {
  readonly name: BackendName
  /** Create or attach, by workspace id. What fails half-way is cleaned up; what was there before stays. */
  provision(spec: EnvironmentSpec, options?: ProvisionOptions): Promise<Environment>
  /** `undefined` means that there is none; a look-up that failed throws. */
  find(id: WorkspaceId, options?: CallOptions): Promise<EnvironmentInfo | undefined>
  list(owner: OwnerFilter, options?: CallOptions): AsyncIterable<EnvironmentInfo>
  probe(options?: CallOptions): Promise<ProbeStep[]>
  /**
   * Gives what hosts that never came back left behind, by label alone, and removes each unless `dryRun`. What holds a workspace's
   * files is never removed, and nothing is touched that a host may just be making. Absent where nothing can be left.
   */
  prune?(options: CallOptions & { dryRun: boolean }): AsyncIterable<Leftover>
  /**
   * Removes a workspace with its files, whatever became of it and without starting it; one that is gone is fine. Refuses
   * (`permission_denied`) what Atelier did not make. Absent where `Environment.destroy` can do no less.
   */
  remove?(info: Pick<EnvironmentInfo, 'id' | 'owner'>, options?: CallOptions): Promise<void>
}

/** One live environment. `[Symbol.asyncDispose]` lets go of the host's handles and changes nothing inside. */
export interface Environment extends AsyncDisposable {
  readonly info: EnvironmentInfo
  /** Bytes to and from one process; stderr goes to the gateway's log. */
  openStream(argv: readonly string[], options?: CallOptions): Promise<Duplex>
  /** Bootstrap only. */
  exec(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>
  /** Bootstrap only. */
  upload(files: readonly UploadFile[], options?: CallOptions): Promise<void>
  keepAlive(options?: CallOptions): Promise<void>
  /** Absent where the backend can't tell. */
  usage?(): Promise<EnvironmentUse>
  /** The last part of `close()`. */
  suspend(options?: CallOptions): Promise<void>
  /** Data included. Refuses (`permission_denied`) what Atelier did not make. */
  destroy(options?: CallOptions): Promise<void>
}
