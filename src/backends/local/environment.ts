import { randomBytes } from 'node:crypto'
import { chmod, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import type { Environment, EnvironmentInfo, UploadFile } from '../backend.ts'
import { removeTree } from '../host/remove-tree.ts'
import { workspacesFolder } from './layout.ts'
import { openProcess, runProcess } from './processes.ts'
import { answers, removeRuntimeDir } from './runtime-dir.ts'

/** A directory on this host as an environment. It keeps no handles; `destroy` removes only what Atelier made. */
export function createLocalEnvironment(info: EnvironmentInfo, place: { dataDir: string; runtime: string }): Environment {
  const log = join(place.runtime, 'gateway.log')
  return {
    info,
    openStream: (argv, options) => openProcess(argv, { cwd: info.workdir, log }, options),
    exec: (argv, options) => runProcess(argv, info.workdir, options),
    async upload(files, options) {
      for (const file of files) {
        options?.signal?.throwIfAborted()
        await writeWhole(resolve(info.root, file.path), file)
      }
    },
    // A directory has no time-out of its own.
    async keepAlive() {},
    // Nothing runs here but the gateway, which has had its goodbye.
    async suspend() {},
    async destroy() {
      if (!info.madeByAtelier) {
        throw new WorkspaceError('permission_denied', `${info.workdir} is not deleted: it was there before Atelier.`, {
          hint: "workspace_reset empties Atelier's own folder for it; remove the directory itself by hand.",
        })
      }
      await ended(info.socket)
      await removeTree(info.root, workspacesFolder(place.dataDir))
      await removeRuntimeDir(place.runtime)
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** A gateway that is still attached to by others after this loses its directory. */
const END_MS = 2_000

/** Waits until the gateway, which has had its goodbye, is gone: it must not write where its directory was. */
async function ended(socket: string | undefined): Promise<void> {
  const end = performance.now() + END_MS
  while (socket !== undefined && performance.now() < end && (await answers(socket))) await sleep(20)
}

async function writeWhole(path: string, file: UploadFile): Promise<void> {
  await makeFolders(dirname(path), { mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(temporary, file.data, { mode: file.mode, flag: 'wx' })
    await chmod(temporary, file.mode)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
