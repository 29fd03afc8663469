import { performance } from 'node:perf_hooks'
import type { CreateSandboxRequest } from '@alibaba-group/opensandbox'
import { sleep } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, EnvironmentInfo } from '../backend.ts'
import { openSandboxError } from './errors.ts'
import { execdOf, pings } from './execd.ts'
import { lostError } from './lost.ts'
import { metadataOf, type OpenSandboxRecord } from './record.ts'
import type { ExecdPlace } from './sdk.ts'
import { ask, inspect, listSandboxes, type OpenSandboxContext } from './service.ts'
import { DEFAULT_ENTRYPOINT, DEFAULT_READY_MS } from './settings.ts'

/** What a failed creation left is looked for within this, whatever became of the call. */
const CLEAN_UP_MS = 20_000
const LOOKS = 4
const LOOK_AGAIN_MS = 1_000
const PING_LIMIT_MS = 5_000
const POLL_MS = 50
const MAX_POLL_MS = 500
const DEFAULT_LIMITS = { cpu: '1', memory: '2Gi' }

/** The settings and a record as the server takes them: without a time-out, a paused sandbox would be removed by it too. */
export function createRequest(
  { settings }: Pick<OpenSandboxContext, 'settings'>,
  record: OpenSandboxRecord,
): CreateSandboxRequest {
  const { entrypoint = DEFAULT_ENTRYPOINT, resources = DEFAULT_LIMITS, timeoutMs, accessToken, metadata } = settings
  const { networkPolicy, volumes, platform, extensions, credentialProxy, secureAccess = false } = settings
  const token = accessToken === undefined ? {} : { EXECD_ACCESS_TOKEN: accessToken }
  return {
    image: { uri: record.image, ...(settings.imageAuth === undefined ? {} : { auth: settings.imageAuth }) },
    ...{ entrypoint: [...entrypoint], resourceLimits: resources, secureAccess },
    env: { ...settings.env, ...token },
    metadata: { ...metadata, ...metadataOf(record) },
    ...(timeoutMs === undefined ? {} : { timeout: Math.ceil(timeoutMs / 1_000) }),
    ...(networkPolicy === undefined ? {} : { networkPolicy: { defaultAction: 'deny', ...networkPolicy } }),
    ...(volumes === undefined ? {} : { volumes: [...volumes] }),
    ...(platform === undefined ? {} : { platform }),
    ...(credentialProxy === undefined ? {} : { credentialProxy }),
    extensions: extensions ?? {},
  }
}

/**
 * Makes a sandbox and gives its id. A request whose answer was lost may have made one all the same: what this call made is then
 * found by its mark, and used or removed.
 */
export async function createSandbox(
  context: OpenSandboxContext,
  record: OpenSandboxRecord,
  options: CallOptions = {},
): Promise<string> {
  const { settings, logger } = context
  const timeoutMs = settings.readyTimeoutMs ?? DEFAULT_READY_MS
  const what = `A sandbox of the image "${record.image}" was not made`
  try {
    const request = createRequest(context, record)
    return (await ask(context, what, api => api.createSandbox(request), { ...options, timeoutMs, once: true })).id
  } catch (error) {
    const failure = openSandboxError(error, what, options)
    const made = await leftBy(context, record, failure).catch(reason => {
      logger.warn({ reason: toWorkspaceError(reason).message }, 'what a failed creation left was not found')
      return []
    })
    const [first, ...others] = made
    await removeSandboxes(context, options.signal?.aborted ? made : others)
    if (first === undefined || options.signal?.aborted) throw failure
    return first
  }
}

/** What a request that failed made all the same. The server may still be at it when the request was only given up. */
async function leftBy(context: OpenSandboxContext, record: OpenSandboxRecord, { code }: WorkspaceError): Promise<string[]> {
  const looks = code === 'cancelled' || code === 'timeout' || code === 'unavailable' ? LOOKS : 1
  for (let look = 1; ; look++) {
    const made = await madeBy(context, record)
    if (made.length > 0 || look >= looks) return made
    await sleep(LOOK_AGAIN_MS)
  }
}

/** The sandboxes that one call made: usually one. */
export async function madeBy(context: OpenSandboxContext, { id, maker }: OpenSandboxRecord): Promise<string[]> {
  const listed = await listSandboxes(context, { id }, { signal: AbortSignal.timeout(CLEAN_UP_MS) })
  return listed.filter(({ record }) => record.maker === maker).map(({ sandboxId }) => sandboxId)
}

/** Waits until a sandbox runs and the program inside answers; throws why it can't. */
export async function waitUntilReady(context: OpenSandboxContext, id: string, options: CallOptions = {}): Promise<ExecdPlace> {
  const limit = context.settings.readyTimeoutMs ?? DEFAULT_READY_MS
  const started = performance.now()
  const waited = (): number => performance.now() - started
  let last = 'it does not run'
  for (let pause = POLL_MS; waited() < limit; pause = Math.min(MAX_POLL_MS, pause * 1.5)) {
    const found = await inspect(context, id, options)
    const lost = lostError(id, found)
    if (lost !== undefined) throw lost
    if (found?.phase === 'running') {
      const place = await execdOf(context, id, options)
      if (await pings(context, place, { ...options, timeoutMs: PING_LIMIT_MS })) return place
      last = `the program inside does not answer at ${place.url}`
    }
    await sleep(pause, options)
  }
  throw new WorkspaceError('timeout', `Sandbox ${id} was not ready after ${Math.round(waited())} ms: ${last}.`, {
    hint: 'See its log at the server. Where sandboxes can only be reached through the server, set opensandbox.useServerProxy.',
  })
}

/** The same for a new sandbox, which has nothing to lose yet. */
export async function waitForStart(context: OpenSandboxContext, id: string, options: CallOptions = {}): Promise<ExecdPlace> {
  try {
    return await waitUntilReady(context, id, options)
  } catch (error) {
    const failure = toWorkspaceError(error)
    if (failure.code !== 'environment_gone') throw failure
    throw new WorkspaceError('precondition_failed', `A new sandbox did not start: ${failure.message}`, {
      hint: 'See opensandbox.image and opensandbox.entrypoint, and the log of the server.',
      cause: failure,
    })
  }
}

/** Removes sandboxes; a failure is logged, since there is an error already that says more. */
export async function removeSandboxes(context: OpenSandboxContext, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await removeSandbox(context, id).catch(error =>
      context.logger.warn({ sandbox: id, reason: toWorkspaceError(error).message }, 'a sandbox was left'),
    )
  }
}

/** Removes all sandboxes of a workspace, whatever their state, and those of `known`, which a list may not have yet. */
export async function removeAll(
  context: OpenSandboxContext,
  { id, owner }: Pick<EnvironmentInfo, 'id' | 'owner'>,
  { known = [], ...options }: CallOptions & { known?: readonly string[] } = {},
): Promise<void> {
  const all = await listSandboxes(context, { id }, options)
  const mine = all.filter(({ record }) => record.owner.user === owner.user)
  for (const each of new Set([...known, ...mine.map(({ sandboxId }) => sandboxId)])) await removeSandbox(context, each, options)
}

/** Removes a sandbox; one that is gone is fine. */
export async function removeSandbox(context: OpenSandboxContext, id: string, options: CallOptions = {}): Promise<void> {
  try {
    await ask(context, `Sandbox ${id}`, api => api.deleteSandbox(id), options)
  } catch (error) {
    const failure = openSandboxError(error, `Sandbox ${id}`, options)
    if (failure.code !== 'environment_gone' && failure.code !== 'not_found') throw failure
  }
}
