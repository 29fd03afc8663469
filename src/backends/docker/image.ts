import type Dockerode from 'dockerode'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { CallOptions } from '../backend.ts'
import { engineError, engineWords, statusOf } from './errors.ts'
import { DEFAULT_IMAGE } from './settings.ts'

/** The image on the engine, pulled when it is not there. Throws `not_found` with the way to get it. */
export async function ensureImage(
  docker: Dockerode,
  name: string,
  options: CallOptions & { logger: Logger },
): Promise<Dockerode.ImageInspectInfo> {
  const found = await inspectImage(docker, name)
  if (found !== undefined) return found
  await pull(docker, name, options)
  const pulled = await inspectImage(docker, name)
  if (pulled === undefined) throw missing(name, 'it was pulled and is not there')
  return pulled
}

/** The image; `undefined` when the engine has none of that name. */
export async function inspectImage(docker: Dockerode, name: string): Promise<Dockerode.ImageInspectInfo | undefined> {
  try {
    return await docker.getImage(name).inspect()
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw engineError(error, `Image ${name}`)
  }
}

async function pull(docker: Dockerode, name: string, { logger, signal }: CallOptions & { logger: Logger }): Promise<void> {
  logger.info({ image: name }, 'image is pulled')
  const reference = /:[^/]*$|@/.test(name) ? name : `${name}:latest`
  try {
    const stream = await docker.pull(reference, signal === undefined ? {} : { abortSignal: signal })
    await new Promise<void>((resolve, reject) => {
      const step = reportTo(logger, name)
      docker.modem.followProgress(
        stream,
        (error: Error | null) => (error ? reject(error) : resolve()),
        (event: PullEvent) => {
          if (event.error === undefined) step(event)
          else reject(new Error(event.error))
        },
      )
    })
  } catch (error) {
    if (signal?.aborted) throw new WorkspaceError('cancelled', `Image ${name}: pulling was cancelled.`)
    throw missing(name, engineWords(error), error)
  }
}

interface PullEvent {
  status?: string
  id?: string
  error?: string
  progressDetail?: { current?: number; total?: number }
}

const REPORT_MS = 2_000

/** A line in the log now and then, with what all layers have got so far. */
function reportTo(logger: Logger, image: string): (event: PullEvent) => void {
  const layers = new Map<string, { current: number; total: number }>()
  let said = 0
  return ({ id, progressDetail }) => {
    if (id === undefined || progressDetail?.total === undefined) return
    layers.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total })
    if (Date.now() - said < REPORT_MS) return
    said = Date.now()
    const sum = (key: 'current' | 'total') => [...layers.values()].reduce((all, layer) => all + layer[key], 0)
    logger.info({ image, bytes: sum('current'), of: sum('total') }, 'pulling')
  }
}

function missing(name: string, why: string, cause?: unknown): WorkspaceError {
  const build =
    'Build it from the Dockerfile that comes with Atelier: docker build -t atelier-workspace . (or name another image).'
  return new WorkspaceError('not_found', `The image ${JSON.stringify(name)} is not on the engine and can't be pulled: ${why}.`, {
    hint: name === DEFAULT_IMAGE ? build : 'Pull or build it on the engine, or name another image.',
    cause,
  })
}
