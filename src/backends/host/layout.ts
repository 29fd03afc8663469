import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Hex SHA-256 over the parts, each with its length in front, so that no two lists of parts look alike. */
export function digest(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return hash.digest('hex')
}

/** Folder that holds Atelier's own folders for directories which the user already had. */
export function rootsFolder(dataDir: string): string {
  return join(dataDir, 'roots')
}

/** Atelier's folder for a user's own directory, keyed by its real path, by who works there, and by how it is laid out. */
export function rootFolder(dataDir: string, user: string, realPath: string, layout?: 'workdir'): string {
  return join(rootsFolder(dataDir), digest([realPath, user, ...(layout === undefined ? [] : [layout])]).slice(0, 16))
}
