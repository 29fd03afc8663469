import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type Authenticator, openAuthenticator, tokenAuthenticator, usersFileAuthenticator } from '../http/authenticator.ts'
import { startHttpServer } from '../http/server.ts'
import { ownToken, readUsers } from '../http/tokens.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { createSession } from '../mcp/session.ts'
import { createServices } from '../services.ts'
import { clientEntries } from './client-entries.ts'

/** How clients prove who they are, and what to tell the person who starts the server. */
interface Gate {
  authenticator: Authenticator
  token?: string
  note: string
}

/** Where users are kept. */
export const usersFileOf = (config: Config): string => config.usersFile ?? join(config.dataDir, 'users.json')

/** Serves until a signal comes; then answers finish within their limit, and the workspaces are let go of. */
export async function serveHttp(config: Config, io: { write(text: string): void; exit(code: number): void }): Promise<void> {
  const services = await createServices(config, { severalUsers: await hasSeveralUsers(config) })
  const { logger } = services
  const gate = await gateOf(config, logger)
  const server = await startHttpServer({
    settings: config,
    authenticator: gate.authenticator,
    logger: logger.child({ part: 'http' }),
    openSession: options => createSession(services, options),
  })
  const stop = async (): Promise<void> => {
    await server.close()
    await services[Symbol.asyncDispose]()
  }
  endOnSignal(stop, { exit: io.exit, logger })
  const { url } = server
  const { directory } = config
  const needsToken = gate.authenticator.required
  io.write(
    clientEntries({
      url,
      token: gate.token,
      needsToken,
      tokenNote: gate.note,
      directory,
      node: process.execPath,
      program: programPath(),
    }),
  )
}

/** Whether more than one user has a token. */
async function hasSeveralUsers(config: Config): Promise<boolean> {
  if (config.auth === 'none' || config.token !== undefined) return false
  return Object.keys(await readUsers(usersFileOf(config))).length > 1
}

async function gateOf(config: Config, logger: Logger): Promise<Gate> {
  if (config.auth === 'none') return { authenticator: openAuthenticator(config.user), note: '' }
  if (config.token !== undefined && config.usersFile !== undefined) {
    throw new WorkspaceError('invalid_argument', 'token and usersFile are both set, and only one can say who the users are.', {
      hint: 'Unset one.',
    })
  }
  if (config.token !== undefined)
    return { authenticator: tokenAuthenticator(config.user, config.token), note: 'the configured one' }
  const file = usersFileOf(config)
  if (config.usersFile !== undefined || Object.keys(await readUsers(file)).length > 0) {
    return {
      authenticator: await usersFileAuthenticator(file, logger),
      note: `one for each user in ${file}; atelier token add USER makes more`,
    }
  }
  const token = await ownToken(config.dataDir)
  return { authenticator: tokenAuthenticator(config.user, token), token, note: `kept in ${join(config.dataDir, 'token')}` }
}

/** One Ctrl-C comes several times where each parent hands it on, as `npm start` does. */
const ECHO_MS = 500

function endOnSignal(stop: () => Promise<void>, { exit, logger }: { exit(code: number): void; logger: Logger }): void {
  let since: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    if (since !== undefined) {
      if (performance.now() - since > ECHO_MS) exit(1)
      return
    }
    since = performance.now()
    logger.info({ signal }, 'Shutting down')
    stop().then(
      () => exit(0),
      error => {
        logger.error({ err: error }, 'The shutdown failed')
        exit(1)
      },
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}

function programPath(): string {
  const script = process.argv[1] ?? 'atelier'
  try {
    return realpathSync(script)
  } catch {
    return script
  }
}
