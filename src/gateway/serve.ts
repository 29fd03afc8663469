import { renameSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { WorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { createGatewayLog } from './gateway-log.ts'
import { Life, TAKEN_OVER } from './life.ts'
import { LinkServer } from './link-server.ts'
import { dialSocket, prepareRuntimeDir, socketPath, takeLock } from './runtime-dir.ts'
import type { Services, ServicesOptions } from './services.ts'
import { VERSION } from './version.ts'

/** How a daemon is set up; the flags of `serve`. */
export interface ServeOptions {
  /** Private runtime directory, with the socket `s`, the log and the lock. */
  dir: string
  workdir: string
  root: string
  idleMs: number
  logMaxBytes: number
  jobMaxLifeMs: number
  confine?: string
  /** The environment ends with this process: it is never replaced. */
  mainProcess: boolean
  /** Variables for every command, below those of a host; absent: none. */
  baseEnv?: Readonly<Record<string, string>>
  /** Ends the daemon with its jobs and links, whenever it comes; its reason is logged. */
  stop: AbortSignal
}

export interface Daemon {
  /** Resolves with the reason when the daemon has ended and the process may exit. */
  ended: Promise<string>
  log: Logger
}

/** Makes what the daemon works with; called when it listens already. */
export type MakeServices = (options: ServicesOptions) => Services | Promise<Services>

/** Runs the daemon; `undefined` when another one already serves this directory, or is about to. */
export async function serve(options: ServeOptions, makeServices: MakeServices): Promise<Daemon | undefined> {
  prepareRuntimeDir(options.dir)
  if (!options.mainProcess) checkWorkdir(options.workdir)
  const path = socketPath(options.dir)
  const release = takeLock(options.dir)
  if (release === undefined) return undefined
  try {
    if (await isServed(path)) return undefined
    const server = createServer({ pauseOnConnect: true })
    const waiting = holdConnections(server)
    await listen(server, path)
    return await run(options, { server, path, waiting, makeServices })
  } finally {
    release()
  }
}

function checkWorkdir(workdir: string): void {
  if (statSync(workdir, { throwIfNoEntry: false })?.isDirectory() === true) return
  throw new WorkspaceError('precondition_failed', `The working directory "${workdir}" is no directory`, {
    hint: 'Make it, or give another one.',
  })
}

interface Ground {
  server: Server
  path: string
  /** Gives the connections, those that came before too, to who serves them. */
  waiting(serve: (socket: Socket) => void): void
  makeServices: MakeServices
}

function holdConnections(server: Server): Ground['waiting'] {
  const held: Socket[] = []
  let take = (socket: Socket): void => void held.push(socket)
  server.on('connection', socket => take(socket))
  return serve => {
    take = serve
    for (const socket of held.splice(0)) serve(socket)
  }
}

async function run(options: ServeOptions, { server, path, waiting, makeServices }: Ground): Promise<Daemon> {
  // Loading it takes longer than all else up to here: by now hosts can connect already.
  const { randomUUID } = await import('node:crypto')
  const log = createGatewayLog(join(options.dir, 'gateway.log'))
  const instance = randomUUID()
  log.info({ instance, version: VERSION, workdir: options.workdir }, 'gateway listens')
  server.on('error', error => log.error({ error: error.message }, 'the socket failed'))
  let links: LinkServer | undefined
  const services = await makeServices({
    ...{ ...options, instance, log, links: () => links?.links ?? 0, link: id => links?.link(id) },
    notify: (name, params) => links?.notify(name, params),
  })
  const seat = new Seat(server, path)
  let resolveEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>(resolve => (resolveEnded = resolve))
  const end = async (reason: string): Promise<void> => {
    log.info({ reason }, 'gateway ends')
    server.close()
    // Told to stop, it has no answers any more: its hosts learn that they lost it, not that their commands ended.
    if (options.stop.aborted) links?.close()
    const jobs = reason === TAKEN_OVER ? 'leave' : 'end'
    await services.end(jobs).catch(error => log.error({ error: String(error) }, 'ending the work failed'))
    links?.close()
    seat.leave()
    resolveEnded(reason)
  }
  const life = new Life({
    ...{ work: services.work, idleMs: options.idleMs, awaitsHost: !options.mainProcess },
    ...{ sound: () => seat.check(), end },
  })
  const serving = new LinkServer({
    instance,
    version: VERSION,
    handlers: services.handlers,
    life,
    log,
    replaceable: !options.mainProcess,
    baseEnv: options.baseEnv,
  })
  links = serving
  waiting(socket => {
    socket.resume()
    serving.accept(socket)
  })
  const stop = (): void => life.finish(String(options.stop.reason))
  if (options.stop.aborted) stop()
  else options.stop.addEventListener('abort', stop, { once: true })
  return { ended, log }
}

async function isServed(path: string): Promise<boolean> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false
  const socket = await dialSocket(path)
  socket?.destroy()
  if (socket === undefined) rmSync(path, { force: true })
  return socket !== undefined
}

/** Listens at `path` under a name of its own at first: on closing, Node unlinks the name it bound, whoever has it by then. */
function listen(server: Server, path: string): Promise<void> {
  const bound = join(path, '..', `t${process.pid.toString(36)}`)
  rmSync(bound, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(bound, () => {
      server.off('error', reject)
      renameSync(bound, path)
      resolve()
    })
  })
}

/** The daemon's place in the file system: its socket, which may vanish or be taken by another daemon. */
class Seat {
  readonly #server: Server
  readonly #path: string
  #inode: number | undefined
  #moving = false

  constructor(server: Server, path: string) {
    this.#server = server
    this.#path = path
    this.#inode = this.#look()
  }

  /** Makes the socket again where it vanished; `false` when another daemon has the place. */
  check(): boolean {
    if (this.#moving) return true
    const inode = this.#look()
    if (inode === this.#inode) return true
    if (inode !== undefined) return false
    this.#moving = true
    void this.#return().finally(() => (this.#moving = false))
    return true
  }

  leave(): void {
    if (this.#look() === this.#inode) rmSync(this.#path, { force: true })
  }

  async #return(): Promise<void> {
    const dir = join(this.#path, '..')
    try {
      prepareRuntimeDir(dir)
      const release = takeLock(dir)
      if (release === undefined) return
      try {
        // Closing only ends listening: the connections that are there stay.
        this.#server.close()
        await listen(this.#server, this.#path)
        this.#inode = this.#look()
      } finally {
        release()
      }
    } catch {
      // The next tick tries again.
    }
  }

  #look(): number | undefined {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino
  }
}
