import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ask, readInside, writeInside } from './agent-client.ts'
import {
  type ContainerState,
  connectDocker,
  createContainer,
  insidePid,
  type Mount,
  removeContainer,
  stateOfContainer,
} from './containers.ts'
import {
  attachInside,
  type SandboxProcess,
  type SpawnOptions,
  spawnInside,
  spawnOnTerminal,
  type TerminalSize,
} from './process.ts'

export interface SandboxesOptions {
  /** Name of the imitated service; a label of every container. */
  service: string
  /** Folder that keeps what is known of each sandbox, so that a later stand-in finds it again. */
  stateDir: string
  image?: string
  /** What every sandbox sees of the host. */
  mounts?: readonly Mount[]
}

/** What is kept of a sandbox; `data` is the service's own. */
export interface SandboxRecord<Data> {
  id: string
  /** ISO 8601. */
  createdAt: string
  data: Data
}

export interface FileEntry {
  path: string
  type: 'file' | 'dir' | 'symlink'
  size: number
  /** Permission bits. */
  mode: number
  uid: number
  gid: number
  mtimeMs: number
  link?: string
}

export interface CreateOptions<Data> {
  id?: string
  data: Data
  env?: Record<string, string>
  image?: string
  mounts?: readonly Mount[]
  labels?: Record<string, string>
}

/** Label of every stand-in's containers, with the service's name. */
const LABEL = 'atelier.stand-in'
const STATE_LABEL = 'atelier.stand-in.state'
const READY_MS = 20_000

/** Sandboxes of a stand-in: real containers of the local engine, with what the service knows of them in files. */
export class Sandboxes<Data> {
  readonly #options: SandboxesOptions
  readonly #docker = connectDocker()
  readonly #records = new Map<string, SandboxRecord<Data>>()

  constructor(options: SandboxesOptions) {
    this.#options = options
    mkdirSync(this.#folder, { recursive: true })
    for (const name of readdirSync(this.#folder).filter(each => each.endsWith('.json'))) {
      const record = JSON.parse(readFileSync(join(this.#folder, name), 'utf8')) as SandboxRecord<Data>
      this.#records.set(record.id, record)
    }
  }

  get #folder(): string {
    return join(this.#options.stateDir, 'sandboxes')
  }

  /** Makes and starts a sandbox; what fails half-way is removed. */
  async create({ id = randomBytes(10).toString('hex'), data, ...options }: CreateOptions<Data>): Promise<SandboxRecord<Data>> {
    const { service, stateDir, mounts = [] } = this.#options
    const record = { id, createdAt: new Date().toISOString(), data }
    this.#keep(record)
    try {
      await createContainer(this.#docker, {
        name: this.containerName(id),
        image: options.image ?? this.#options.image ?? process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest',
        labels: { [LABEL]: service, [STATE_LABEL]: stateDir, ...options.labels },
        mounts: [...mounts, ...(options.mounts ?? [])],
        run: this.#run(id),
        env: options.env ?? {},
      })
      await this.#ready(id)
      return record
    } catch (error) {
      await this.remove(id)
      throw error
    }
  }

  get(id: string): SandboxRecord<Data> | undefined {
    return this.#records.get(id)
  }

  /** In the order of creation. */
  all(): SandboxRecord<Data>[] {
    return [...this.#records.values()].sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id))
  }

  /** Keeps changed data. */
  update(id: string, data: Partial<Data>): void {
    const record = this.#records.get(id)
    if (record !== undefined) this.#keep({ ...record, data: { ...record.data, ...data } })
  }

  state(id: string): Promise<ContainerState> {
    return stateOfContainer(this.#docker, this.containerName(id))
  }

  /** Freezes it with all that runs. */
  async pause(id: string): Promise<void> {
    await this.#container(id).pause()
  }

  async resume(id: string): Promise<void> {
    await this.#container(id).unpause()
  }

  /** Ends all that runs; files stay. */
  async stop(id: string): Promise<void> {
    await this.#container(id).stop({ t: 0 })
  }

  async start(id: string): Promise<void> {
    await this.#container(id).start()
    await this.#ready(id)
  }

  /** Files included; one that is gone is fine. */
  async remove(id: string): Promise<void> {
    await removeContainer(this.#docker, this.containerName(id))
    this.#records.delete(id)
    rmSync(join(this.#folder, `${id}.json`), { force: true })
    rmSync(this.#run(id), { recursive: true, force: true })
  }

  spawn(id: string, argv: readonly string[], options: SpawnOptions): Promise<SandboxProcess> {
    return spawnInside(this.#socket(id), argv, options)
  }

  /** Starts a process on a real terminal. */
  terminal(id: string, argv: readonly string[], options: SpawnOptions & { size: TerminalSize }): Promise<SandboxProcess> {
    return spawnOnTerminal(this.#container(id), argv, { ...options, insidePid, agent: this.#socket(id) })
  }

  /** Takes up a process with pipes again. */
  attach(id: string, pid: number): Promise<SandboxProcess> {
    return attachInside(this.#socket(id), pid)
  }

  processes(id: string): Promise<{ pid: number; argv: string[]; cwd?: string; env: Record<string, string> }[]> {
    return ask(this.#socket(id), { op: 'processes' })
  }

  signal(id: string, pid: number, options: { signal: string; group?: boolean }): Promise<void> {
    return ask(this.#socket(id), { op: 'signal', pid, ...options })
  }

  stat(id: string, path: string): Promise<FileEntry> {
    return ask(this.#socket(id), { op: 'stat', path })
  }

  list(id: string, path: string, depth = 1): Promise<FileEntry[]> {
    return ask(this.#socket(id), { op: 'list', path, depth })
  }

  makeFolder(id: string, path: string): Promise<{ made: boolean }> {
    return ask(this.#socket(id), { op: 'mkdir', path })
  }

  async move(id: string, from: string, to: string): Promise<void> {
    await ask(this.#socket(id), { op: 'move', from, to })
  }

  async removePath(id: string, path: string): Promise<void> {
    await ask(this.#socket(id), { op: 'remove', path })
  }

  read(id: string, path: string): Promise<{ size: number; bytes: Readable }> {
    return readInside(this.#socket(id), path)
  }

  write(id: string, file: { path: string; mode?: number }, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return writeInside(this.#socket(id), file, bytes)
  }

  /** Name of its container on the engine. */
  containerName(id: string): string {
    return `atelier-${this.#options.service}-${id}`
  }

  #container(id: string) {
    return this.#docker.getContainer(this.containerName(id))
  }

  #run(id: string): string {
    return join(this.#folder, id)
  }

  #socket(id: string): string {
    return join(this.#run(id), 'agent.sock')
  }

  #keep(record: SandboxRecord<Data>): void {
    this.#records.set(record.id, record)
    const path = join(this.#folder, `${record.id}.json`)
    writeFileSync(`${path}.new`, JSON.stringify(record))
    renameSync(`${path}.new`, path)
  }

  async #ready(id: string): Promise<void> {
    for (const end = Date.now() + READY_MS; ; ) {
      try {
        return void (await ask(this.#socket(id), { op: 'ping' }))
      } catch (error) {
        if (Date.now() > end) throw error
        await new Promise(resolve => setTimeout(resolve, 15))
      }
    }
  }
}
