import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'
import { makeFolders } from '../lib/make-folders.ts'
import type { Files } from '../workspace/ports.ts'

/** What a copy did. */
export interface Copied {
  files: number
  bytes: number
  /** Links, sockets and the like, which are not copied. */
  skipped: string[]
}

export interface CopyOptions {
  signal?: AbortSignal | undefined
  onFile?(name: string, bytes: number): void
  onBytes?(bytes: number): void
}

interface Job extends CopyOptions {
  files: Files
  copied: Copied
}

/** Copies a file or directory of this host into a workspace; into `to`, when that is a directory. Each file appears whole or not at all. */
export async function copyIn(files: Files, from: string, to: string, options: CopyOptions = {}): Promise<Copied> {
  const job = newJob(files, options)
  const there = await files.stat(to, options)
  const name = basename(from)
  const target = there.type === 'directory' || to.endsWith('/') ? posix.join(to, name) : to
  // What is named is followed when it is a link; links below are not.
  const { mode, size } = await hostStat(from)
  await (mode.directory ? directoryIn(job, from, target) : fileIn(job, from, { target, size, mode: mode.bits }))
  return job.copied
}

/** Copies a file or directory of a workspace to this host, in the same way. */
export async function copyOut(files: Files, from: string, to: string, options: CopyOptions = {}): Promise<Copied> {
  const job = newJob(files, options)
  const there = await stat(to).catch(() => undefined)
  const source = await files.stat(from, options)
  if (source.type === 'missing') throw new WorkspaceError('not_found', `${source.path} is not there in the workspace.`)
  const target = there?.isDirectory() || /[/\\]$/.test(to) ? join(to, posix.basename(source.path)) : to
  await (source.type === 'directory'
    ? directoryOut(job, source.path, target)
    : fileOut(job, source.path, { target, size: source.size }))
  return job.copied
}

function newJob(files: Files, options: CopyOptions): Job {
  return { ...options, files, copied: { files: 0, bytes: 0, skipped: [] } }
}

async function hostStat(path: string) {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOENT' ? 'not_found' : 'permission_denied'
    throw new WorkspaceError(code, `${path} can't be read: ${error.message}.`, { cause: error })
  })
  if (!found.isFile() && !found.isDirectory())
    throw new WorkspaceError('invalid_argument', `${path} is neither a file nor a directory.`)
  return { size: found.size, mode: { directory: found.isDirectory(), bits: found.mode & 0o777 } }
}

async function directoryIn(job: Job, from: string, target: string): Promise<void> {
  await job.files.mkdir(target, job)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, below] = [join(from, entry.name), posix.join(target, entry.name)]
    if (entry.isDirectory()) await directoryIn(job, source, below)
    else if (entry.isFile()) {
      const { size, mode } = await lstat(source)
      await fileIn(job, source, { target: below, size, mode: mode & 0o777 })
    } else job.copied.skipped.push(source)
  }
}

async function fileIn(job: Job, from: string, file: { target: string; size: number; mode: number }): Promise<void> {
  job.onFile?.(from, file.size)
  const hash = createHash('sha256')
  async function* content() {
    for await (const chunk of createReadStream(from, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      job.onBytes?.(chunk.length)
      yield chunk
    }
  }
  const put = await job.files.put(file.target, content(), { signal: job.signal, mode: file.mode })
  expectSame(put.sha256, hash.digest('hex'), put.path)
  count(job, put.size)
}

async function directoryOut(job: Job, from: string, target: string): Promise<void> {
  await makeFolders(target)
  const { entries, truncated } = await job.files.list(from, job)
  if (truncated) {
    throw new WorkspaceError('too_large', `${from} has more than ${entries.length} entries.`, {
      hint: 'Pack it with tar in the workspace and copy the archive.',
    })
  }
  for (const { name, type, size } of entries) {
    const [source, below] = [posix.join(from, name), join(target, name)]
    if (type === 'directory') await directoryOut(job, source, below)
    else if (type === 'file') await fileOut(job, source, { target: below, size })
    else job.copied.skipped.push(source)
  }
}

async function fileOut(job: Job, from: string, { target, size }: { target: string; size: number }): Promise<void> {
  job.onFile?.(from, size)
  const hash = createHash('sha256')
  const part = `${target}.${randomUUID().slice(0, 8)}.part`
  const handle = await open(part, 'wx', 0o600)
  try {
    const sink = async (chunk: Uint8Array) => {
      hash.update(chunk)
      job.onBytes?.(chunk.length)
      await handle.writeFile(chunk)
    }
    const got = await job.files.get(from, sink, job)
    expectSame(got.sha256, hash.digest('hex'), got.path)
    await handle.chmod(got.mode & 0o777)
    await handle.close()
    await rename(part, target)
    count(job, got.size)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}

function expectSame(theirs: string, ours: string, path: string): void {
  if (theirs === ours) return
  throw new WorkspaceError('protocol', `What arrived of ${path} hashes to ${ours}, not to ${theirs}.`, { hint: 'Copy it again.' })
}

function count(job: Job, size: number): void {
  job.copied.files += 1
  job.copied.bytes += size
}
