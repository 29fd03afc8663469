import { randomUUID } from 'node:crypto'
import type { V1Pod } from '@kubernetes/client-node'
import { throwIfAborted } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { EnvironmentSpec, ProvisionOptions } from '../backend.ts'
import { markStarted, touchClaim } from './claims.ts'
import { choiceOf, type KubernetesContext, nodeLostMs } from './context.ts'
import { whyByEvents } from './events.ts'
import { resourceName } from './names.ts'
import { claimManifest, podManifest, WORKDIR } from './pod-spec.ts'
import { imageOf, lifeOf, whyEnded } from './pod-state.ts'
import { createPod, deletePod, readPod, waitGone } from './pods.ts'
import { GATEWAY_FOLDER, NODE, RUNTIME_FOLDER } from './program.ts'
import { putIn } from './put-in.ts'
import { type KubernetesRecord, MADE_BY, newRecord, notOurs, recordOf, STARTED } from './record.ts'
import { DEFAULT_START_MS } from './settings.ts'
import { waitRunning } from './start.ts'
import { takeBack } from './take-back.ts'

/** As often may others be faster before a call gives up. */
const ATTEMPTS = 8

/** A Pod that runs with its gateway put in, and why the one before it had ended. */
export interface Ready {
  record: KubernetesRecord
  pod: V1Pod
  image: string
  ended?: string | undefined
}

/** One call's work on one workspace. */
interface Work extends ProvisionOptions {
  context: KubernetesContext
  spec: EnvironmentSpec
  boot: NonNullable<EnvironmentSpec['boot']>
  name: string
  /** Tells what this call made from what others made. */
  user: string
  record: KubernetesRecord
  /** Whether a gateway ever ran on the claim. */
  started: boolean
  /** The Pod that is not to be left behind if this fails. */
  half?: V1Pod | undefined
  ended?: string | undefined
}

/** Makes or finds claim and Pod of a workspace, and makes sure that its gateway is there. What fails takes back what it made. */
export async function provisionPod(
  context: KubernetesContext,
  spec: EnvironmentSpec,
  call: ProvisionOptions = {},
): Promise<Ready> {
  const { boot } = spec
  if (boot === undefined) throw new WorkspaceError('internal', `Workspace ${spec.name}: no gateway was given to put in.`)
  const name = resourceName(spec.id)
  const record = newRecord(spec)
  // An unknown profile is refused before anything is made.
  choiceOf(context, record)
  const work: Work = { ...call, context, spec, boot, name, user: randomUUID(), record, started: false }
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      throwIfAborted(call.signal)
      const ready = await tryOnce(work)
      if (ready !== undefined) return ready
    }
  } catch (error) {
    await takeBack(context, { name, user: work.user, pod: work.half })
    throw error
  }
  throw new WorkspaceError('unavailable', `Pod ${name} is made and removed by others again and again.`)
}

/** `undefined`: somebody else was faster, or an old Pod had to go first; look again. */
async function tryOnce(work: Work): Promise<Ready | undefined> {
  const { context, name, user, signal } = work
  work.half = undefined
  await claim(work)
  const found = await readPod(context.cluster, name, { signal })
  if (found !== undefined) return useFound(work, found)
  const { record } = work
  const { argv } = await bootOf(work)
  const body = podManifest({ name, record, user, argv, ...choiceOf(context, record) })
  work.half = await createPod(context.cluster, body, { signal })
  return work.half === undefined ? undefined : getReady(work, work.half)
}

async function claim(work: Work): Promise<void> {
  const { context, name, spec, user, signal } = work
  const { profile } = choiceOf(context, work.record)
  const body = claimManifest({ name, record: work.record, profile, user })
  const { metadata } = await touchClaim(context.cluster, body, { user, limitMs: nodeLostMs(context), signal })
  const record = recordOf(metadata)
  if (record?.id !== spec.id || record.owner.user !== spec.owner.user) throw notOurs(`volume claim ${name}`)
  work.record = record
  work.started = metadata?.annotations?.[STARTED] === 'yes'
}

async function useFound(work: Work, pod: V1Pod): Promise<Ready | undefined> {
  const { context, name, spec, user, signal } = work
  const record = recordOf(pod.metadata)
  if (record?.id !== spec.id || record.owner.user !== spec.owner.user) throw notOurs(`Pod ${name}`)
  const life = lifeOf(pod)
  // One that never came to run may have been left by a host that died.
  if (life === 'pending' || pod.metadata?.annotations?.[MADE_BY] === user) work.half = pod
  if (life === 'pending' || life === 'running') return getReady(work, pod)
  work.ended = (await whyByEvents(context.cluster, pod)) ?? whyEnded(pod) ?? work.ended
  if (life === 'ended') await deletePod(context.cluster, pod)
  await waitGone(context.cluster, pod, { limitMs: nodeLostMs(context), force: context.settings.forceLostNode, signal })
  return undefined
}

async function getReady(work: Work, pod: V1Pod): Promise<Ready | undefined> {
  const { context, name, user, record, ended, signal, onProgress } = work
  const limitMs = context.settings.startTimeoutMs ?? DEFAULT_START_MS
  const running = await waitRunning(context.cluster, pod, { limitMs, signal, onProgress })
  if (running === undefined) return undefined
  const own = running.metadata?.annotations?.[MADE_BY] === user
  // Now that it runs, whoever made it may be at work in it.
  if (!own) work.half = undefined
  const image = imageOf(running) ?? choiceOf(context, record).image
  const { files } = await bootOf(work)
  await putIn(context.cluster, name, { program: files[0], image, cacheFolder: context.cacheFolder, signal })
  if (!work.started || !own) await markStarted(context.cluster, name, user, { signal })
  return { record, pod: running, image, ended }
}

function bootOf({ boot }: Work) {
  return boot({ node: NODE, folder: RUNTIME_FOLDER, dir: GATEWAY_FOLDER, workdir: WORKDIR, root: WORKDIR })
}
