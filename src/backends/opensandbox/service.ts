import { formatMs, sleep, throwIfAborted } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { CallOptions } from '../backend.ts'
import { isPassing, openSandboxError } from './errors.ts'
import { metadataFilter, recordOf } from './record.ts'
import type { Sandboxes, Sdk } from './sdk.ts'
import { DEFAULT_REQUEST_MS, type OpenSandboxSettings } from './settings.ts'
import { type Listed, phaseOf, reasonOf } from './state.ts'

/** What every part of this backend works with. */
export interface OpenSandboxContext {
  sdk: Sdk
  settings: OpenSandboxSettings
  logger: Logger
  /** Sandboxes that lost and hold data, or failed, which was reported. */
  reported: Set<string>
  /** Before a new sandbox is handed out, others have so long to show up. Ms. */
  settleMs: number
  /** A sandbox that runs for so long without being handed out was left by its maker. Ms. */
  leftMs: number
}

export interface AskOptions extends CallOptions {
  /** Limit for one try. Ms. */
  timeoutMs?: number | undefined
  /** What must not be done twice is tried again only when the server refused to do it at all. */
  once?: boolean
}

/** Pauses between tries of a request; what the server says in `Retry-After` comes first. */
const PAUSES_MS = [250, 1_000, 3_000]
/** A longer wait is the caller's to decide. */
const LONGEST_WAIT_MS = 60_000

/** A way of sending requests that ends with the caller's signal or after a while, and remembers what the server wants waited. */
export interface Sender {
  send: typeof fetch
  /** Of the last answer. Ms. */
  retryAfterMs: number | undefined
}

/** A sender for one try. */
export function senderFor({ settings }: Pick<OpenSandboxContext, 'settings'>, options: AskOptions = {}): Sender {
  const limit = options.timeoutMs ?? settings.requestTimeoutMs ?? DEFAULT_REQUEST_MS
  const ends = [AbortSignal.timeout(limit), ...(options.signal === undefined ? [] : [options.signal])]
  const sender: Sender = {
    retryAfterMs: undefined,
    async send(input, init) {
      const signal = AbortSignal.any([...ends, ...(init?.signal ? [init.signal] : [])])
      const response = await fetch(input, { ...init, signal })
      sender.retryAfterMs = retryAfter(response.headers.get('retry-after'))
      return response
    },
  }
  return sender
}

/** In ms; the header holds seconds or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Asks with a sender of its own for each try; what can be asked twice is, when the other side was only busy. Errors are ours. */
export async function tryAgain<T>(
  context: OpenSandboxContext,
  what: string,
  run: (sender: Sender) => Promise<T>,
  options: AskOptions = {},
): Promise<T> {
  for (let tries = 0; ; tries++) {
    throwIfAborted(options.signal)
    const sender = senderFor(context, options)
    try {
      return await run(sender)
    } catch (error) {
      const failure = openSandboxError(error, what, options)
      const pause = PAUSES_MS[tries]
      if (pause === undefined || !isPassing(failure) || (options.once && failure.code !== 'limit_exceeded')) throw failure
      const wait = sender.retryAfterMs ?? pause
      if (wait > LONGEST_WAIT_MS) {
        const hint = `The server asks to wait ${formatMs(wait)}: try again then.`
        throw new WorkspaceError(failure.code, failure.message, { hint, cause: error })
      }
      context.logger.debug({ reason: failure.message, wait }, 'the OpenSandbox server is asked again')
      await sleep(wait, { signal: options.signal })
    }
  }
}

/** Asks the server's own API. */
export function ask<T>(
  context: OpenSandboxContext,
  what: string,
  run: (sandboxes: Sandboxes) => Promise<T>,
  options: AskOptions = {},
): Promise<T> {
  return tryAgain(context, what, ({ send }) => run(context.sdk.sandboxes(send)), options)
}

/** The largest that the server gives. */
const PAGE = 200

/** All sandboxes of one workspace, or of a user's workspaces, that are not on their way out. */
export async function listSandboxes(
  context: OpenSandboxContext,
  wanted: { id: string } | { user: string | undefined },
  options: CallOptions = {},
): Promise<Listed[]> {
  const found = new Map<string, Listed>()
  const metadata = metadataFilter(wanted)
  for (let page = 1, more = true; more; page++) {
    const what = `The sandboxes of ${context.sdk.address} can't be listed`
    const { items, pagination } = await ask(context, what, api => api.listSandboxes({ metadata, page, pageSize: PAGE }), options)
    for (const item of items) {
      const listed = listedOf(item)
      if (listed === undefined || listed.phase === 'gone') continue
      if ('id' in wanted && listed.record.id !== wanted.id) continue
      found.set(listed.sandboxId, listed)
    }
    more = pagination?.hasNextPage === true
  }
  return [...found.values()]
}

/** A sandbox as one of ours; `undefined` for one that is no workspace. */
export function listedOf(item: Awaited<ReturnType<Sandboxes['getSandbox']>>): Listed | undefined {
  const record = recordOf(item.metadata)
  if (record === undefined) return undefined
  const phase = phaseOf(item)
  const reason = phase === 'failed' ? { reason: reasonOf(item) } : {}
  return { sandboxId: item.id, phase, record, createdAt: item.createdAt.getTime(), ...reason }
}

/** A sandbox as it is now; `undefined` when it is gone or on its way out. */
export async function inspect(context: OpenSandboxContext, id: string, options: AskOptions = {}): Promise<Listed | undefined> {
  try {
    const listed = listedOf(await ask(context, `Sandbox ${id}`, api => api.getSandbox(id), options))
    return listed?.phase === 'gone' ? undefined : listed
  } catch (error) {
    const failure = openSandboxError(error, `Sandbox ${id}`, options)
    if (failure.code === 'environment_gone' || failure.code === 'not_found') return undefined
    throw failure
  }
}
