import { posix } from 'node:path'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { GatewayCalls } from '../environment-link.ts'
import { layoutOf } from '../layout.ts'
import type { PortOptions } from '../ports.ts'
import { listOffloads } from './list-offloads.ts'
import type { SweepOptions } from './offloader.ts'

const DAY_MS = 86_400_000
const MAX_BLOBS = 100_000
const MAX_FILES = 10_000
const BLOB_NAME = /^[0-9a-f]{64}\.[a-z0-9]+$/
const REFERENCE = /data\/([0-9a-f]{64})/g
/** Longer than one reference, so that none is lost between two chunks. */
const OVERLAP = 80

/** Removes old blobs that neither `sessions/` nor a file of the workdir names. Anything that can't be read ends it with nothing removed. */
export async function sweepBlobs(
  gateway: GatewayCalls,
  { root, workdir }: { root: string; workdir: string },
  { olderThanMs = DAY_MS, ...options }: SweepOptions = {},
): Promise<{ removed: string[]; bytes: number }> {
  const { data } = layoutOf(root)
  const before = Date.now() - olderThanMs
  const old = await oldBlobs(gateway, { data, root, before }, options)
  const result = { removed: [] as string[], bytes: 0 }
  if (old.length === 0) return result
  const named = await referenced(gateway, await filesThatMayRefer(gateway, { root, workdir }, options), options)
  for (const { name, size } of old.filter(blob => !named.has(blob.name.slice(0, 64)))) {
    const at = { path: posix.join(data, name), confine: root }
    // It may have been offloaded again meanwhile.
    if ((await gateway.call('file.stat', at, options)).mtimeMs > before) continue
    if (!(await gateway.call('file.remove', at, options)).removed) continue
    result.removed.push(name)
    result.bytes += size
  }
  return result
}

async function oldBlobs(
  gateway: GatewayCalls,
  { data, root, before }: { data: string; root: string; before: number },
  options: PortOptions,
) {
  const { type } = await gateway.call('file.stat', { path: data, confine: root }, options)
  if (type !== 'directory') return []
  const { entries } = await gateway.call('file.list', { path: data, confine: root, limit: MAX_BLOBS }, options)
  return entries.filter(({ name, type, mtimeMs }) => type === 'file' && BLOB_NAME.test(name) && mtimeMs <= before)
}

async function filesThatMayRefer(
  gateway: GatewayCalls,
  { root, workdir }: { root: string; workdir: string },
  options: PortOptions,
): Promise<Set<string>> {
  const offloads = await listOffloads(gateway, root, { ...options, session: undefined })
  const request = { path: workdir, pattern: 'workspace:///data/', mode: 'files_with_matches' as const, maxLineBytes: 200 }
  const found = await gateway.call('search.grep', { ...request, limit: MAX_FILES, offset: 0 }, options)
  const { files, truncated, notices } = found
  const unsure = notices.find(notice => notice.includes('incomplete'))
  if (truncated || unsure !== undefined)
    throw new WorkspaceError('unavailable', `${workdir} could not be searched for references: nothing was removed.`, {
      hint: unsure ?? `More than ${MAX_FILES} files hold one.`,
    })
  return new Set([...offloads.map(({ path }) => path), ...files.map(path => posix.resolve(workdir, path))])
}

async function referenced(gateway: GatewayCalls, paths: Iterable<string>, options: PortOptions): Promise<Set<string>> {
  const named = new Set<string>()
  for (const path of paths) {
    let rest = ''
    const onChunk = (chunk: Uint8Array): void => {
      const text = rest + Buffer.from(chunk).toString('latin1')
      for (const [, hash] of text.matchAll(REFERENCE)) named.add(hash!)
      rest = text.slice(-OVERLAP)
    }
    await gateway.call('file.get', { path }, { ...options, onChunk }).catch(error => {
      // What was purged meanwhile refers to nothing.
      if (toWorkspaceError(error).code !== 'not_found') throw error
    })
  }
  return named
}
