import type Dockerode from 'dockerode'
import { WorkspaceError } from '../../lib/errors.ts'
import { nodeFor } from '../host/node-for.ts'
import { engineError, statusOf } from './errors.ts'

/** The node that a container's gateway runs on: one of the image, or a file of this host to be put in. */
export type NodeRuntime = { inside: string } | { file: string; size: number }

interface Place {
  /** Created, not started. */
  container: Dockerode.Container
  image: Dockerode.ImageInspectInfo
  imageName: string
  /** Where a downloaded one is kept. */
  cacheFolder: string
}

const USUAL = ['/usr/local/bin', '/usr/bin']
const NPM_CPU: Readonly<Record<string, string>> = { amd64: 'x64', arm64: 'arm64' }
const GLIBC: Readonly<Record<string, readonly string[]>> = {
  amd64: ['/lib64/ld-linux-x86-64.so.2'],
  arm64: ['/lib/ld-linux-aarch64.so.1', '/lib64/ld-linux-aarch64.so.1'],
}

/** Chooses a node: the image's own, else this host's where it fits, else npm's for that platform. */
export async function chooseNode(place: Place): Promise<NodeRuntime> {
  const inside = await nodeInside(place)
  if (inside !== undefined) return { inside }
  const { container, image, imageName } = place
  const cpu = NPM_CPU[image.Architecture]
  const loaders = GLIBC[image.Architecture] ?? []
  const glibc = (await Promise.all(loaders.map(path => exists(container, path)))).includes(true)
  if (image.Os !== 'linux' || cpu === undefined || !glibc) {
    const why =
      glibc || cpu === undefined ? `it is for ${image.Os}/${image.Architecture}` : 'it has no glibc to run another one on'
    throw new WorkspaceError('unsupported', `The image ${JSON.stringify(imageName)} has no node, and ${why}.`, {
      hint: 'Use an image that has Node 18 or newer (on Alpine: apk add nodejs).',
    })
  }
  return nodeFor(cpu, place.cacheFolder)
}

/** Looks into a container that need not run, where it usually is before the rest of the image's PATH. */
async function nodeInside({ container, image }: Place): Promise<string | undefined> {
  const path = (image.Config.Env ?? []).find(entry => entry.startsWith('PATH='))?.slice(5) ?? ''
  const others = path.split(':').filter(folder => folder.startsWith('/') && !USUAL.includes(folder))
  for (const folders of [USUAL, others]) {
    const candidates = folders.map(folder => `${folder.replace(/\/$/, '')}/node`)
    const found = await Promise.all(candidates.map(candidate => exists(container, candidate)))
    const inside = candidates.find((_, index) => found[index])
    if (inside !== undefined) return inside
  }
  return undefined
}

/** Whether a path leads to something in the container's file system, through one link at the end. */
async function exists(container: Dockerode.Container, path: string, followed = 0): Promise<boolean> {
  let answer: { headers: Record<string, string | undefined>; resume?(): void }
  try {
    answer = await container.infoArchive({ path })
  } catch (error) {
    if (statusOf(error) === 404) return false
    throw engineError(error, `Looking for ${path} in the container`)
  }
  answer.resume?.()
  const stat = JSON.parse(Buffer.from(answer.headers['x-docker-container-path-stat'] ?? '', 'base64').toString() || '{}')
  const target: unknown = stat.linkTarget
  return typeof target !== 'string' || target === '' || followed > 0 || (await exists(container, target, followed + 1))
}
