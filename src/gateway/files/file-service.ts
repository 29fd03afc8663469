import { KeyedLock } from '../../lib/keyed-lock.ts'
import type { Logger } from '../../lib/log.ts'
import type { CallContext, Handlers } from '../dispatch.ts'
import type { Method, PathParams } from '../protocol.ts'
import { appendFile } from './append-file.ts'
import { copyTree } from './copy-tree.ts'
import { listDirectory, makeDirectory, removePath, statPath } from './directory.ts'
import { editFile } from './edit-file.ts'
import { fsError } from './fs-error.ts'
import { type Location, locate } from './locate.ts'
import { movePath } from './move.ts'
import { readFile } from './read-file.ts'
import { ReadState } from './read-state.ts'
import { getFile, putFile, readBytes } from './transfer.ts'
import { readTree } from './tree.ts'
import { writeFile } from './write-file.ts'

export interface FileServiceOptions {
  workdir: string
  /** Directory that no call may leave, whatever it asks for; a call's own `confine` narrows it further. */
  confine?: string | undefined
  log: Logger
}

type FileMethod = Extract<Method, `file.${string}`>

export interface FileService {
  handlers: Pick<Handlers, FileMethod>
  /** Forgets what the session has read. */
  forgetSession(session: string): void
  /** Forgets what every session has read. */
  reset(): void
}

/** All file work of a gateway: one read-state, and one queue per real path for everything that changes a file. */
export function createFileService({ workdir, confine, log }: FileServiceOptions): FileService {
  const state = new ReadState()
  const queue = new KeyedLock()

  async function find(params: PathParams, context: CallContext, keepLink = false): Promise<Location> {
    const options = { workdir, home: context.link.env.HOME, keepLink }
    if (confine === undefined || params.confine === undefined)
      return locate(params.path, { ...options, confine: params.confine ?? confine })
    await locate(params.path, { ...options, confine })
    return locate(params.path, { ...options, confine: params.confine })
  }

  /** Runs one change of a file when those before it on the same real path are done. */
  async function change<T>(params: PathParams, context: CallContext, task: (location: Location) => Promise<T>): Promise<T> {
    const location = await find(params, context)
    return queue.run(location.real, () => task(location), { signal: context.signal })
  }

  const handlers: FileService['handlers'] = {
    'file.read': async (params, context) =>
      reading(await find(params, context), at => readFile(at, params, { state, signal: context.signal })),
    'file.write': (params, context) => change(params, context, at => writeFile(at, params, state)),
    'file.edit': (params, context) => change(params, context, at => editFile(at, params, state)),
    'file.stat': async (params, context) => statPath(await find(params, context)),
    'file.list': async (params, context) => listDirectory(await find(params, context), params.limit),
    'file.bytes': async (params, context) => reading(await find(params, context), at => readBytes(at, params)),
    'file.get': async (params, context) => reading(await find(params, context), at => getFile(at, context)),
    'file.put': (params, context) => change(params, context, at => putFile(at, context, params)),
    'file.append': (params, context) => change(params, context, at => appendFile(at, context, params)),
    'file.remove': async (params, context) => {
      const location = await find(params, context, true)
      const recursive = params.recursive ?? false
      return queue.run(location.real, () => removePath(location, { recursive, workdir }), { signal: context.signal })
    },
    'file.mkdir': async (params, context) => makeDirectory(await find(params, context)),
    'file.move': async (params, context) => {
      const from = await find(params, context, true)
      const to = await find({ ...params, path: params.to }, context, true)
      const move = () => movePath(from, to, { replace: params.replace ?? false })
      return queue.run(to.real, move, { signal: context.signal })
    },
    'file.copy': async (params, context) => {
      const { to, confine, confineTo = confine, ...bounds } = params
      const target = await find({ path: to, ...(confineTo === undefined ? {} : { confine: confineTo }) }, context, true)
      const from = await find(params, context)
      return queue.run(target.real, () => copyTree(from, target, { ...bounds, signal: context.signal }), {
        signal: context.signal,
      })
    },
    'file.tree': async (params, context) => readTree(await find(params, context), params),
  }
  log.debug({ workdir, confine }, 'files ready')
  return { handlers, forgetSession: session => state.forgetSession(session), reset: () => state.clear() }
}

/** A system call that fails half-way through reading is an error that names the file. */
async function reading<T>(location: Location, task: (location: Location) => Promise<T>): Promise<T> {
  try {
    return await task(location)
  } catch (error) {
    throw fsError(error, 'read', location.path)
  }
}
