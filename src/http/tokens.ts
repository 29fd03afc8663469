import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, link, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'
import { makeFolders } from '../lib/make-folders.ts'

/** A new bearer token: 256 random bits. */
export const newToken = (): string => `atl_${randomBytes(32).toString('base64url')}`

/** How a token is kept: SHA-256 in hex. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Users and the hashes of their tokens. */
export type Users = Record<string, string>

/** Whose token this is. Compares with every user's, in constant time, so that the time tells nothing. */
export function userOfToken(token: string, users: Users): string | undefined {
  const presented = Buffer.from(hashToken(token), 'hex')
  let found: string | undefined
  for (const [user, hash] of Object.entries(users)) {
    const kept = Buffer.from(hash, 'hex')
    if (kept.length === presented.length && timingSafeEqual(kept, presented)) found ??= user
  }
  return found
}

/** Reads a users file: `{"user": "sha256 of the token"}`, or one such object a line. An absent file has no users. */
export async function readUsers(file: string): Promise<Users> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new WorkspaceError('permission_denied', `The users file ${file} can't be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const users = parseUsers(text)
  const broken =
    users === undefined ? ['its form'] : Object.keys(users).filter(user => !/^[0-9a-f]{64}$/i.test(users[user] ?? ''))
  if (users === undefined || broken.length > 0) {
    throw new WorkspaceError('invalid_argument', `The users file ${file} is broken: ${broken.join(', ')}.`, {
      hint: 'It must hold {"user": "<SHA-256 of the token in hex>"}; `atelier token add USER` writes it.',
    })
  }
  return users
}

function parseUsers(text: string): Users | undefined {
  try {
    return asUsers(JSON.parse(text.trim() || '{}'))
  } catch {
    // Not one object: then one a line.
  }
  try {
    const lines = text.split('\n').filter(line => line.trim() !== '')
    const parsed = lines.map(line => asUsers(JSON.parse(line)))
    return parsed.includes(undefined) ? undefined : Object.assign({}, ...parsed)
  } catch {
    return undefined
  }
}

function asUsers(value: unknown): Users | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.values(value).every(hash => typeof hash === 'string') ? (value as Users) : undefined
}

/** Replaces a users file as a whole, readable by its owner only. */
export async function writeUsers(file: string, users: Users): Promise<void> {
  await makeFolders(dirname(file), { mode: 0o700 })
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(temporary, `${JSON.stringify(users, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** The single user's own token, in `<dataDir>/token` (0600). Made once: of several processes that start together all get the same. */
export async function ownToken(dataDir: string): Promise<string> {
  const file = join(dataDir, 'token')
  const kept = await readOwnToken(file)
  if (kept !== undefined) return kept
  await makeFolders(dataDir, { mode: 0o700 })
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(temporary, `${newToken()}\n`, { mode: 0o600, flag: 'wx', flush: true })
    // A link fails when the name is taken, and the file behind it is whole from the start.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(temporary, { force: true })
  }
  const made = await readOwnToken(file)
  if (made !== undefined) return made
  throw new WorkspaceError('internal', `The token file ${file} is empty.`, { hint: 'Remove it, then start again.' })
}

async function readOwnToken(file: string): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>
  try {
    handle = await open(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { mode } = await handle.stat()
    if ((mode & 0o077) !== 0) await chmod(file, 0o600)
    return (await handle.readFile('utf8')).trim() || undefined
  } finally {
    await handle.close()
  }
}
