import { closeSync, lstatSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'
import { makeFoldersSync } from '../lib/make-folders.ts'

const MAX_SOCKET_PATH = 100
/** Nobody needs the lock for longer; one this old was left behind. */
const LOCK_STALE_MS = 10_000

/** The socket's path in a runtime directory; throws where it would be too long for the operating system. */
export function socketPath(dir: string): string {
  const path = join(dir, 's')
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return path
  throw new WorkspaceError(
    'invalid_argument',
    `The runtime directory "${dir}" is too long for a socket (${MAX_SOCKET_PATH} bytes)`,
  )
}

/** Makes the private directory, or checks that the one found is a real directory of ours with mode 0700. */
export function prepareRuntimeDir(dir: string): void {
  makeFoldersSync(dir, { mode: 0o700 })
  const found = lstatSync(dir)
  const uid = process.getuid?.()
  if (!found.isDirectory())
    throw new WorkspaceError('permission_denied', `The runtime directory "${dir}" is no directory of its own`)
  if (uid !== undefined && found.uid !== uid)
    throw new WorkspaceError('permission_denied', `The runtime directory "${dir}" belongs to another user`)
  if ((found.mode & 0o077) !== 0)
    throw new WorkspaceError('permission_denied', `The runtime directory "${dir}" is open to others`, {
      hint: `Run: chmod 700 ${dir}`,
    })
}

/** A connection to the daemon's socket, or `undefined` where nobody listens. */
export function dialSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    const failed = (error: NodeJS.ErrnoException): void => {
      if (['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(error.code ?? '')) resolve(undefined)
      else if (error.code === 'EACCES')
        reject(new WorkspaceError('permission_denied', `The socket "${path}" can't be opened: EACCES`))
      else reject(error)
    }
    socket.once('error', failed)
    socket.once('connect', () => {
      socket.off('error', failed)
      resolve(socket)
    })
  })
}

/** Takes the directory's lock; the answer releases it, `undefined` means that another process holds it. */
export function takeLock(dir: string): (() => void) | undefined {
  const path = join(dir, 'lock')
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const fd = openSync(path, 'wx', 0o600)
      nameHolder(fd)
      return () => rmSync(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (!isStale(path)) return undefined
      rmSync(path, { force: true })
    }
  }
  return undefined
}

/** A full disk costs the name of the holder: without it the lock only takes longer to be found stale. */
function nameHolder(fd: number): void {
  try {
    writeSync(fd, String(process.pid))
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(fd)
  }
}

function isStale(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return true
  if (Date.now() - found.mtimeMs > LOCK_STALE_MS) return true
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    return pid > 0 && !isAlive(pid)
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
