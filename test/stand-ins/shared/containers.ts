import { chmodSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Dockerode from 'dockerode'
import { pack } from 'tar-stream'

/** Where the program that a stand-in talks to is inside a sandbox. */
const FOLDER = '/opt/stand-in'
const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url))
export const HOME = '/home/user'

/** A host's directory that a sandbox sees. */
export interface Mount {
  source: string
  target: string
  readOnly?: boolean
}

export interface ContainerSpec {
  /** Name of the container too. */
  name: string
  image: string
  labels: Record<string, string>
  mounts: readonly Mount[]
  /** Folder on the host for the socket. */
  run: string
  env: Record<string, string>
}

export type ContainerState = 'running' | 'paused' | 'stopped' | 'gone'

/** `source:target[:ro]`, several with commas between: the mounts of every sandbox. */
export function parseMounts(text = ''): Mount[] {
  return text
    .split(',')
    .filter(part => part !== '')
    .map(part => {
      const [source = '', target = source, mode] = part.split(':')
      return { source, target, ...(mode === 'ro' ? { readOnly: true } : {}) }
    })
}

/** Files inside belong to the user of this process, so that mounts can be used. */
const user = (): { uid: number; gid: number } => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 })

/** Makes and starts a container whose main process is the stand-in's program. */
export async function createContainer(docker: Dockerode, spec: ContainerSpec): Promise<void> {
  mkdirSync(spec.run, { recursive: true })
  chmodSync(spec.run, 0o777)
  const { uid, gid } = user()
  const bind = ({ source, target, readOnly = false }: Mount) => `${source}:${target}:${readOnly ? 'ro' : 'rw'}`
  const program = { source: realpathSync(process.execPath), target: `${FOLDER}/node`, readOnly: true }
  const container = await docker.createContainer({
    ...{ name: spec.name, Image: spec.image, Labels: spec.labels, User: `${uid}:${gid}`, WorkingDir: HOME },
    Entrypoint: [`${FOLDER}/node`, `${FOLDER}/agent.mjs`, `${FOLDER}/run/agent.sock`],
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    HostConfig: {
      Init: true,
      Binds: [...spec.mounts, program, { source: spec.run, target: `${FOLDER}/run` }].map(bind),
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m' } },
    },
  })
  const archive = pack()
  archive.entry({ name: `${HOME.slice(1)}/`, type: 'directory', mode: 0o755, uid, gid })
  archive.entry({ name: `${FOLDER.slice(1)}/agent.mjs`, mode: 0o755 }, readFileSync(AGENT))
  archive.finalize()
  await container.putArchive(archive as unknown as NodeJS.ReadableStream, { path: '/' })
  await container.start()
}

export async function stateOfContainer(docker: Dockerode, name: string): Promise<ContainerState> {
  try {
    const { State } = await docker.getContainer(name).inspect()
    if (State.Paused) return 'paused'
    return State.Running ? 'running' : 'stopped'
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return 'gone'
    throw error
  }
}

/** Removes a container with its files; one that is gone is fine. */
export async function removeContainer(docker: Dockerode, name: string): Promise<void> {
  try {
    await docker.getContainer(name).remove({ force: true, v: true })
  } catch (error) {
    const { statusCode } = error as { statusCode?: number }
    if (statusCode !== 404 && statusCode !== 409) throw error
  }
}

/** A process's number as seen in its innermost namespace. */
export function insidePid(hostPid: number): number {
  try {
    const line = /^NSpid:\t(.*)$/m.exec(readFileSync(join('/proc', String(hostPid), 'status'), 'latin1'))?.[1]
    return Number(line?.split('\t').at(-1) ?? hostPid)
  } catch {
    return hostPid
  }
}

export function connectDocker(): Dockerode {
  return new Dockerode()
}
