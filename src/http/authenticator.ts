import { stat } from 'node:fs/promises'
import type { Logger } from '../lib/log.ts'
import { hashToken, readUsers, type Users, userOfToken } from './tokens.ts'

/** A changed users file counts after this at the latest. */
const RELOAD_MS = 1_000

/** Tells who sends a request, by its `Authorization` header. */
export interface Authenticator {
  /** Whether a token is asked for at all. */
  readonly required: boolean
  user(authorization: string | undefined): Promise<string | undefined>
  /** Whether a user may still be served: one who was removed loses the sessions too. */
  admits(user: string): Promise<boolean>
}

/** Everybody is `user`: for loopback only, when the operator asks for it. */
export function openAuthenticator(user: string): Authenticator {
  return { required: false, user: async () => user, admits: async one => one === user }
}

/** One user with one token. */
export function tokenAuthenticator(user: string, token: string): Authenticator {
  const users = { [user]: hashToken(token) }
  return { required: true, user: async authorization => presented(authorization, users), admits: async one => one === user }
}

/** The users of a file, read again when it changes; one that breaks meanwhile leaves the last good state, and a warning. */
export async function usersFileAuthenticator(file: string, logger: Logger): Promise<Authenticator> {
  let users = await readUsers(file)
  let version = await versionOf(file)
  let checkedAt = performance.now()
  const refresh = async (): Promise<void> => {
    if (performance.now() - checkedAt < RELOAD_MS) return
    checkedAt = performance.now()
    const now = await versionOf(file)
    if (now === version) return
    version = now
    try {
      users = await readUsers(file)
    } catch (error) {
      logger.warn({ err: error }, 'The users file changed and can not be read; its last state counts')
    }
  }
  return {
    required: true,
    async user(authorization) {
      await refresh()
      return presented(authorization, users)
    },
    async admits(user) {
      await refresh()
      return Object.hasOwn(users, user)
    },
  }
}

function presented(authorization: string | undefined, users: Users): string | undefined {
  const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
  return token === undefined ? undefined : userOfToken(token, users)
}

async function versionOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return `${mtimeMs}-${size}-${ino}`
  } catch {
    return 'absent'
  }
}
