import type Dockerode from 'dockerode'
import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { ProvisionOptions } from '../backend.ts'
import { engineError, engineWords, statusOf, wasCut } from './errors.ts'
import { DEFAULT_IMAGE } from './settings.ts'

interface PullOptions extends ProvisionOptions {
  logger: Logger
}

/** The image on the engine, pulled when it is not there. Throws `not_found` with the way to get it. */
export async function ensureImage(docker: Dockerode, name: string, options: PullOptions): Promise<Dockerode.ImageInspectInfo> {
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

async function pull(docker: Dockerode, name: string, { logger, signal, onProgress }: PullOptions): Promise<void> {
  logger.info({ image: name }, 'image is pulled')
  onProgress?.(`Image ${name} is pulled.`)
  const reference = /:[^/]*$|@/.test(name) ? name : `${name}:latest`
  try {
    const stream = await docker.pull(reference, signal === undefined ? {} : { abortSignal: signal })
    await new Promise<void>((resolve, reject) => {
      const step = reportTo(name, { logger, onProgress })
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
    throw notPulled(name, error)
  }
}

interface PullEvent {
  status?: string
  id?: string
  error?: string
  progressDetail?: { current?: number; total?: number }
}

const REPORT_MS = 2_000

/** Tells now and then what all layers have got so far. */
function reportTo(image: string, { logger, onProgress }: PullOptions): (event: PullEvent) => void {
  const layers = new Map<string, { current: number; total: number }>()
  let said = 0
  return ({ id, progressDetail }) => {
    if (id === undefined || progressDetail?.total === undefined) return
    layers.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total })
    if (Date.now() - said < REPORT_MS) return
    said = Date.now()
    const sum = (key: 'current' | 'total') => [...layers.values()].reduce((all, layer) => all + layer[key], 0)
    const [bytes, of] = [sum('current'), sum('total')]
    logger.info({ image, bytes, of }, 'pulling')
    const [there, all] = [bytes, of].map(count => (count / 1024 ** 2).toFixed(1))
    onProgress?.(`Image ${image}: ${there} of ${all} MiB pulled.`)
  }
}

interface Refusal {
  words: RegExp
  code: ErrorCode
  hint(name: string): string
}

/** What a registry, or the engine about one, says of an image that there may be. */
const REFUSALS: readonly Refusal[] = [
  {
    words: /no basic auth credentials|unauthorized|authentication required|incorrect username or password/i,
    code: 'unauthenticated',
    hint: name => `Pull it on the engine's host with an account of the registry: docker login, then docker pull ${name}.`,
  },
  {
    words: /\bdenied: |forbidden/i,
    code: 'permission_denied',
    hint: name => `Ask the registry's owner for access, then pull it on the engine's host: docker pull ${name}.`,
  },
  {
    words: /toomanyrequests|too many requests/i,
    code: 'limit_exceeded',
    hint: name =>
      `Wait, or pull it on the engine's host with an account of the registry: docker login, then docker pull ${name}.`,
  },
  {
    words: /dial tcp|lookup |connection re(fused|set)|timeout|deadline exceeded|EOF$|x509|HTTPS client|\b50[0-9] /i,
    code: 'unavailable',
    hint: name => `See whether the engine's host reaches the registry: docker pull ${name}. Or build it there, or name another.`,
  },
]

/** Also what Docker Hub says of any name that it doesn't have. */
const ABSENT = /does not exist|manifest unknown|not found/i

function notPulled(name: string, error: unknown): WorkspaceError {
  const why = engineWords(error)
  const plain = engineError(error, `Image ${name}`)
  if (plain.code === 'no_space' || wasCut(error)) return plain
  const refusal = ABSENT.test(why) ? undefined : REFUSALS.find(({ words }) => words.test(why))
  // The default one is in no registry.
  if (refusal === undefined || name === DEFAULT_IMAGE) return missing(name, why, error)
  return new WorkspaceError(refusal.code, `${notHere(name)}: ${why}.`, { hint: refusal.hint(name), cause: error })
}

const notHere = (name: string): string => `The image ${JSON.stringify(name)} is not on the engine and can't be pulled`

function missing(name: string, why: string, cause?: unknown): WorkspaceError {
  const build =
    'Build it from the Dockerfile that comes with Atelier: docker build -t atelier-workspace . (or name another image).'
  return new WorkspaceError('not_found', `${notHere(name)}: ${why}.`, {
    hint: name === DEFAULT_IMAGE ? build : 'Pull or build it on the engine, or name another image.',
    cause,
  })
}
