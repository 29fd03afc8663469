import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { fsError } from './fs-error.ts'

const CHUNK = 256 * 1024

/** Writes the staged copy into the file itself, keeping its inode; on failure the old content is put back. */
export async function overwrite(real: string, staged: string, path: string): Promise<void> {
  const target = await open(real, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(error => {
    throw fsError(error, 'write', path)
  })
  const backup = join(tmpdir(), `.atelier-${randomUUID()}.old`)
  let keepBackup = false
  try {
    await (await open(backup, 'wx', 0o600)).close()
    await copyFile(real, backup)
    try {
      await pour(staged, target)
    } catch (error) {
      await pour(backup, target).catch(() => {
        keepBackup = true
      })
      if (!keepBackup) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new WorkspaceError('internal', `Writing ${path} failed (${why}), and its old content could not be put back.`, {
        hint: `The old content is in ${backup}.`,
        cause: error,
      })
    }
  } finally {
    await target.close()
    if (!keepBackup) await rm(backup, { force: true })
  }
}

/** The bytes first, the length last: what fails for want of space has then not cut the old content short. */
async function pour(from: string, target: FileHandle): Promise<void> {
  const source = await open(from, 'r')
  try {
    const buffer = Buffer.allocUnsafe(CHUNK)
    let position = 0
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, CHUNK, position)
      if (bytesRead === 0) break
      let at = 0
      while (at < bytesRead) at += (await target.write(buffer, at, bytesRead - at, position + at)).bytesWritten
      position += bytesRead
    }
    await target.truncate(position)
    await target.sync()
  } finally {
    await source.close()
  }
}
