import { randomBytes } from 'node:crypto'
import type { Logger } from '../lib/log.ts'
import type { Scope } from '../manager/scope.ts'
import type { ClientSession, SessionOptions } from '../mcp/session.ts'
import { HttpSession } from './http-session.ts'

/** When the table is full, a session unused for this long, with no connection, makes room. */
const EVICTABLE_MS = 60_000

export interface SessionTableOptions {
  maxSessions: number
  sessionIdleMs: number
  /** Interval of keep-alive comments and of the search for idle sessions. */
  keepAliveMs: number
  logger: Logger
  /** Whether a user may still be served. */
  admits(user: string): Promise<boolean>
  open(options: SessionOptions): ClientSession
}

/** The sessions of one HTTP server. Ids are random and count for their own user only. */
export class SessionTable {
  readonly #options: SessionTableOptions
  readonly #sessions = new Map<string, HttpSession>()
  readonly #ticker: NodeJS.Timeout

  constructor(options: SessionTableOptions) {
    this.#options = options
    this.#ticker = setInterval(() => this.#tick(), Math.min(options.keepAliveMs, options.sessionIdleMs))
    this.#ticker.unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  get inFlight(): number {
    let sum = 0
    for (const session of this.#sessions.values()) sum += session.inFlight
    return sum
  }

  /** A new session; undefined when the server is full of sessions in use. */
  create(scope: Scope): HttpSession | undefined {
    if (this.#sessions.size >= this.#options.maxSessions && !this.#makeRoom()) return undefined
    const { logger, open } = this.#options
    const session = new HttpSession({ id: randomBytes(24).toString('base64url'), scope, logger, open })
    this.#sessions.set(session.id, session)
    return session
  }

  /** The session of this id, if it is this user's. */
  get(id: string, user: string): HttpSession | undefined {
    const session = this.#sessions.get(id)
    return session?.scope.user === user ? session : undefined
  }

  /** Ends a session: cancels what is in flight there. */
  async end(session: HttpSession, reason: string): Promise<void> {
    if (!this.#sessions.delete(session.id)) return
    try {
      await session.close(reason)
    } catch (error) {
      this.#options.logger.error({ err: error }, 'A session did not close cleanly')
    }
  }

  /** Ends all sessions and the timer. */
  async close(reason: string): Promise<void> {
    clearInterval(this.#ticker)
    await Promise.all([...this.#sessions.values()].map(session => this.end(session, reason)))
  }

  #tick(): void {
    const now = performance.now()
    void this.#endRemovedUsers()
    for (const session of this.#sessions.values()) {
      session.tick(now)
      if (now - session.lastUsedAt > this.#options.sessionIdleMs && !session.busy) this.#endIdle(session)
    }
  }

  async #endRemovedUsers(): Promise<void> {
    const users = new Set([...this.#sessions.values()].map(session => session.scope.user))
    for (const user of users) {
      if (await this.#options.admits(user)) continue
      const theirs = [...this.#sessions.values()].filter(session => session.scope.user === user)
      await Promise.all(theirs.map(session => this.end(session, 'The token of this session has ended.')))
    }
  }

  #makeRoom(): boolean {
    let idlest: HttpSession | undefined
    for (const session of this.#sessions.values()) {
      if (session.busy || performance.now() - session.lastUsedAt < EVICTABLE_MS) continue
      if (idlest === undefined || session.lastUsedAt < idlest.lastUsedAt) idlest = session
    }
    if (idlest !== undefined) this.#endIdle(idlest)
    return idlest !== undefined
  }

  #endIdle(session: HttpSession): void {
    this.#options.logger.debug({ user: session.scope.user }, 'An idle session ended')
    void this.end(session, 'The session was idle for too long.')
  }
}
