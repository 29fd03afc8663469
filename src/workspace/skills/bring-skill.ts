import { posix } from 'node:path'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import { type Confinement, confineTo } from '../confinement.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { hostPath, isAllowed, LEFT_OUT, lookAtHost, readHostFolder } from './host-skills.ts'
import type { AddSkillOptions, SkillSource } from './port.ts'
import { expandArchive } from './reader/reader.ts'
import { SKILL_FILE } from './scan-partition.ts'
import { SKILL_LIMITS } from './skill-limits.ts'
import type { SkillSeeds } from './skill-seeds.ts'
import type { SkillStore } from './skill-store.ts'
import type { Staging } from './staging.ts'

export interface BringParts {
  gateway: GatewayCalls
  place: Confinement
  store: SkillStore
  staging: Staging
  seeds: SkillSeeds
}

/** Puts a skill's files at `staged`, a path where nothing is, and gives the folder that holds its `SKILL.md`. */
export async function bringSkill(
  staged: string,
  { source, parts, options }: { source: SkillSource; parts: BringParts; options: AddSkillOptions },
): Promise<{ folder: string; left: string[] }> {
  if ('archive' in source) return expand(staged, { ...source, parts, options })
  if ('hostPath' in source) return fromHost(staged, { path: hostPath(source.hostPath), parts, options })
  return fromWorkspace(staged, { path: source.path, parts, options })
}

interface FromPath {
  path: string
  parts: BringParts
  options: AddSkillOptions
}

async function fromWorkspace(staged: string, from: FromPath): Promise<{ folder: string; left: string[] }> {
  const { parts, options } = from
  const { gateway, place, store } = parts
  const { signal } = options
  const looking = { path: from.path, ...confineTo(from.path, place, 'read') }
  const found = await gateway.call('file.stat', looking, { signal }).catch(error => toWorkspaceError(error))
  if (found instanceof WorkspaceError && found.code !== 'permission_denied') throw found
  if (found instanceof WorkspaceError || found.type === 'missing') return fromAllowedHost(staged, from, found)
  if (found.type === 'file' && posix.basename(found.path) !== SKILL_FILE) {
    if (found.size > SKILL_LIMITS.maxArchiveBytes) throw tooLarge(found.path, found.size)
    const chunks: Uint8Array[] = []
    await gateway.call('file.get', looking, { signal, onChunk: chunk => void chunks.push(chunk) })
    return expand(staged, { archive: Buffer.concat(chunks), parts, options })
  }
  const folder = found.type === 'directory' ? found.path : posix.dirname(found.path)
  const inside = posix.join(folder, SKILL_FILE)
  if ((await gateway.call('file.stat', { ...looking, path: inside }, { signal })).type !== 'file') throw noSkill(folder)
  const { maxFiles, maxBytes } = SKILL_LIMITS
  const copying = { ...looking, path: folder, to: staged, confineTo: store.root, exclude: [...LEFT_OUT], maxFiles, maxBytes }
  return { folder: staged, left: (await gateway.call('file.copy', copying, { signal })).skipped }
}

/** A path that the workspace does not have, or does not show, may be one of the host, where the operator allows it. */
async function fromAllowedHost(staged: string, from: FromPath, found: unknown): Promise<{ folder: string; left: string[] }> {
  const path = hostPath(from.path)
  if (await isAllowed(path, from.parts.seeds.paths)) return fromHost(staged, { ...from, path })
  if (found instanceof WorkspaceError) throw found
  throw new WorkspaceError('not_found', `There is no ${from.path} in the workspace.`, {
    hint: 'Give a folder with a SKILL.md, or an archive, in the workspace; of the host only what lies in skillPaths.',
  })
}

async function fromHost(staged: string, { path, parts, options }: FromPath): Promise<{ folder: string; left: string[] }> {
  const found = await lookAtHost(path, SKILL_LIMITS.maxArchiveBytes)
  if (found === undefined) throw new WorkspaceError('not_found', `There is no ${path} on the host.`)
  if ('archive' in found) return expand(staged, { ...found, parts, options })
  const { files, left } = await readHostFolder(found.folder, SKILL_LIMITS)
  if (!files.some(file => file.path === SKILL_FILE)) throw noSkill(found.folder)
  await parts.staging.upload(files, staged, options.signal)
  return { folder: staged, left }
}

interface Expansion {
  archive: Uint8Array
  format?: 'zip' | 'tar' | 'tar.gz' | undefined
  parts: BringParts
  options: AddSkillOptions
}

async function expand(
  staged: string,
  { archive, format, parts, options }: Expansion,
): Promise<{ folder: string; left: string[] }> {
  if (archive.length > SKILL_LIMITS.maxArchiveBytes) throw tooLarge('The archive', archive.length)
  const { maxFiles, maxBytes } = SKILL_LIMITS
  const bounds = { format, maxEntries: 2 * maxFiles, maxBytes: options.maxBytes ?? maxBytes, signal: options.signal }
  const paths: string[] = []
  for await (const file of expandArchive(archive, { ...parts.seeds.headers.reader, ...bounds })) {
    paths.push(file.path)
    await put(parts.store, posix.join(staged, file.path), { ...file, signal: options.signal })
  }
  return { folder: posix.join(staged, topOf(paths)), left: [] }
}

/** A broken archive is what went wrong, not the upload that it broke off. */
async function put(
  store: SkillStore,
  path: string,
  file: { content: AsyncIterable<Uint8Array>; mode: number; signal: AbortSignal | undefined },
): Promise<void> {
  let broken: unknown
  const content = (async function* () {
    try {
      yield* file.content
    } catch (error) {
      broken = error
      throw error
    }
  })()
  try {
    await store.put(path, content, { mode: file.mode, signal: file.signal })
  } catch (error) {
    throw toWorkspaceError(broken ?? error)
  }
}

/** Where the skill is: at the top, or in the one folder that holds everything. */
function topOf(paths: readonly string[]): string {
  if (paths.includes(SKILL_FILE)) return '.'
  const tops = new Set(paths.map(path => path.split('/')[0] ?? ''))
  const [top] = tops
  if (tops.size === 1 && top !== undefined && paths.includes(`${top}/${SKILL_FILE}`)) return top
  throw new WorkspaceError('invalid_argument', `The archive has no ${SKILL_FILE} at its top, nor in a single folder.`, {
    hint: 'Pack the folder of one skill.',
  })
}

const noSkill = (folder: string): WorkspaceError =>
  new WorkspaceError('invalid_argument', `There is no ${SKILL_FILE} in ${folder}.`, { hint: 'Name the folder that holds it.' })

const tooLarge = (what: string, size: number): WorkspaceError =>
  new WorkspaceError('too_large', `${what} has ${size} bytes; an archive may have ${SKILL_LIMITS.maxArchiveBytes}.`)
