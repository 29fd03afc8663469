import { dirname } from 'node:path'
import type { V1Pod } from '@kubernetes/client-node'
import { sleep } from '../../lib/deadline.ts'
import { type ErrorCode, toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Environment, EnvironmentInfo, UploadFile } from '../backend.ts'
import type { Cluster } from './cluster.ts'
import type { KubernetesContext } from './context.ts'
import { clusterError } from './errors.ts'
import { eventsOf, lastWarning, whyByEvents } from './events.ts'
import { runExec, startExec } from './exec.ts'
import { isNodeLost, lifeOf, whyEnded } from './pod-state.ts'
import { nodeLost, readPod } from './pods.ts'
import { endPod, removeClaim } from './remove.ts'
import { createUsage } from './usage.ts'

const STDERR_BYTES = 2_000
const SETTLE_LOOKS = 15
const SETTLE_MS = 200

/** A running Pod as an environment. */
export function createPodEnvironment(context: KubernetesContext, info: EnvironmentInfo): Environment {
  const { cluster, logger } = context
  const [uid, name] = [info.incarnation ?? '', info.details.pod ?? '']

  /** What an error really means: most often, that the Pod is not there any more. */
  const explain = async (error: unknown): Promise<WorkspaceError> => {
    const plain = clusterError(error, `Pod ${name}`, cluster.place.server)
    if (plain.code === 'cancelled') return plain
    return (await lostError(context, { uid, name }).catch(() => undefined)) ?? plain
  }

  /** Ends the Pod, this very one or the one that took its place, and waits until it is gone. */
  const end = async ({ any, signal }: CallOptions & { any: boolean }): Promise<void> => {
    const pod = await readPod(cluster, name, { signal })
    if (pod === undefined || (!any && pod.metadata?.uid !== uid)) return
    await endPod(context, pod, { signal })
  }

  const exec: Environment['exec'] = async (argv, options) => {
    try {
      return await runExec(cluster, name, { argv, ...options })
    } catch (error) {
      const { code } = toWorkspaceError(error)
      throw code === 'cancelled' || code === 'timeout' || code === 'too_large' ? error : await explain(error)
    }
  }

  return {
    info,
    exec,
    usage: createUsage(exec),
    async openStream(argv, options) {
      let said = ''
      const onStderr = (part: Buffer) => {
        said = `${said}${part}`.slice(-STDERR_BYTES)
      }
      try {
        const stream = await startExec(cluster, name, { argv, onStderr, explain, signal: options?.signal })
        stream.once('close', () => {
          if (said !== '') logger.warn({ pod: name, said }, 'the gateway complained')
        })
        return stream
      } catch (error) {
        throw await explain(error)
      }
    },
    async upload(files, options) {
      for (const file of files) await upload(this, file, options?.signal)
    },
    // A Pod has no time-out of its own.
    async keepAlive() {},
    suspend: options => end({ any: false, ...options }),
    async destroy(options) {
      await end({ any: true, ...options })
      await removeClaim(context, name, options)
    },
    async [Symbol.asyncDispose]() {},
  }
}

const WRITE = 'mkdir -p "$1" && cat > "$2.$$" && chmod "$3" "$2.$$" && mv -f "$2.$$" "$2"'

async function upload(environment: Environment, { path, data, mode }: UploadFile, signal?: AbortSignal): Promise<void> {
  const whole = path.startsWith('/') ? path : `${environment.info.root}/${path}`
  const argv = ['sh', '-c', WRITE, 'sh', dirname(whole), whole, mode.toString(8)]
  const { exitCode, stderr } = await environment.exec(argv, { input: data, signal })
  if (exitCode === 0) return
  const said = Buffer.from(stderr).toString().trim()
  const code: ErrorCode = /no space|quota/i.test(said) ? 'no_space' : 'permission_denied'
  throw new WorkspaceError(code, `${whole} can't be written in Pod ${environment.info.details.pod}: ${said}`)
}

/** The Pod; one whose container has just ended may be about to be said to be evicted. */
async function readSettled(cluster: Cluster, name: string): Promise<V1Pod | undefined> {
  for (let look = 0; ; look++) {
    const pod = await readPod(cluster, name, { retryMs: 0 })
    const unsettled = pod !== undefined && lifeOf(pod) === 'ended' && pod.status?.phase === 'Running'
    if (!unsettled || look >= SETTLE_LOOKS) return pod
    await sleep(SETTLE_MS)
  }
}

/** The error for a Pod that is not there to be used any more, with what became of it; `undefined` for one that is well. */
async function lostError(
  { cluster }: KubernetesContext,
  { uid, name }: { uid: string; name: string },
): Promise<WorkspaceError | undefined> {
  const pod = await readSettled(cluster, name)
  if (pod === undefined || pod.metadata?.uid !== uid) {
    const last = lastWarning(await eventsOf(cluster, { uid, name }))
    return new WorkspaceError('environment_lost', `Pod ${name} was removed${last === undefined ? '' : ` (${last})`}.`)
  }
  const life = lifeOf(pod)
  if (life === 'running') return isNodeLost(pod) ? nodeLost(pod, 'does not answer') : undefined
  if (life === 'pending') return undefined
  const why = (await whyByEvents(cluster, pod)) ?? whyEnded(pod) ?? 'it ended'
  const oom = why.includes('OOM-killed')
  return new WorkspaceError(oom ? 'out_of_memory' : 'environment_lost', `Pod ${name} is not running: ${why}.`, {
    hint: oom ? 'Call again: it is made again. Use less memory, or ask the operator for a larger limit.' : undefined,
  })
}
