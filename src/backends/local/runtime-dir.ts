import { lstatSync } from 'node:fs'
import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import { digest } from '../host/layout.ts'

/** A unix socket's path has room for 104 bytes on macOS and 108 on Linux. */
const MAX_SOCKET_PATH = 100

/**
 * Private directory of one workspace's gateway on this machine, for its socket. The same for every process that shares the
 * data directory, short enough for a socket; nothing is made here.
 */
export function runtimeDir(place: { dataDir: string; runtimeBase?: string | undefined }, id: string): string {
  const leaf = join(`atelier-${uid()}`, digest([id, place.dataDir]).slice(0, 12))
  const wanted = join(place.runtimeBase ?? defaultBase(), leaf)
  return Buffer.byteLength(socketPath(wanted)) <= MAX_SOCKET_PATH ? wanted : join('/tmp', leaf)
}

/** The gateway's socket in its runtime directory. */
export function socketPath(runtime: string): string {
  return join(runtime, 's')
}

/** Makes the runtime directory, 0700. Refuses (`permission_denied`) one that is a link or belongs to somebody else. */
export async function ensureRuntimeDir(runtime: string): Promise<void> {
  await makeFolders(dirname(dirname(runtime)))
  for (const path of [dirname(runtime), runtime]) {
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await checkPrivate(path)
  }
}

/** Removes the runtime directory with a socket that nobody answers any more. */
export async function removeRuntimeDir(runtime: string): Promise<void> {
  await rm(runtime, { recursive: true, force: true })
}

/** Whether a gateway accepts on the socket. */
export function answers(socket: string, timeoutMs = 1_000): Promise<boolean> {
  return new Promise(resolve => {
    const dial = connect(socket)
    const settle = (alive: boolean) => {
      clearTimeout(timer)
      dial.destroy()
      resolve(alive)
    }
    const timer = setTimeout(settle, timeoutMs, false)
    dial.once('connect', () => settle(true))
    dial.once('error', () => settle(false))
  })
}

async function checkPrivate(path: string): Promise<void> {
  const stat = await lstat(path)
  const why = stat.isSymbolicLink()
    ? 'it is a symbolic link'
    : !stat.isDirectory()
      ? 'it is no directory'
      : stat.uid !== uid()
        ? 'it belongs to another user'
        : undefined
  if (why !== undefined) {
    throw new WorkspaceError('permission_denied', `${path} can't hold the gateway's socket: ${why}.`, {
      hint: 'Remove it, or set another runtime directory.',
    })
  }
  if ((stat.mode & 0o077) !== 0) await chmod(path, 0o700)
}

/** The login session's own directory where the system keeps one, whatever the environment of this process says. */
function defaultBase(): string {
  const session = `/run/user/${uid()}`
  const stat = lstatSync(session, { throwIfNoEntry: false })
  return stat?.isDirectory() && stat.uid === uid() ? session : tmpdir()
}

function uid(): number {
  return userInfo().uid
}
