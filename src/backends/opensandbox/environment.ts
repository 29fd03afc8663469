import type { CallOptions, Environment, EnvironmentInfo } from '../backend.ts'
import { removeAll } from './create.ts'
import { openSandboxError } from './errors.ts'
import { runCommand } from './exec.ts'
import { execdOf, upload } from './execd.ts'
import { guarded } from './lost.ts'
import { openStream } from './open-stream.ts'
import { marks } from './record.ts'
import { ask, inspect, type OpenSandboxContext } from './service.ts'

/** A running sandbox as an environment. */
export function createOpenSandboxEnvironment(context: OpenSandboxContext, info: EnvironmentInfo): Environment {
  const id = info.incarnation ?? ''
  const what = `Sandbox ${id}`
  const inside = <T>(run: (signal: AbortSignal) => Promise<T>, options?: CallOptions): Promise<T> =>
    guarded(context, id, run, options)
  const place = (signal: AbortSignal) => execdOf(context, id, { signal })
  return {
    info,
    openStream: (argv, options) =>
      inside(async signal => openStream(context, await place(signal), { id, argv, signal }), options),
    exec: (argv, options) =>
      inside(async signal => runCommand(context, await place(signal), argv, { ...options, signal }), options),
    upload: (files, options) => inside(async signal => upload(context, await place(signal), files, { signal }), options),
    async keepAlive(options) {
      await ask(context, what, api => api.patchSandboxMetadata(id, marks(Date.now())), options)
      await renew(context, id, options)
    },
    suspend: options => pause(context, id, options),
    destroy: options => removeAll(context, info, { ...options, known: [id] }),
    async [Symbol.asyncDispose]() {},
  }
}

/** Where the operator gave sandboxes a time-out it starts anew; a sandbox that has none is fine. */
async function renew(context: OpenSandboxContext, id: string, options: CallOptions = {}): Promise<void> {
  const { timeoutMs } = context.settings
  if (timeoutMs === undefined) return
  const expiresAt = new Date(Date.now() + timeoutMs).toISOString()
  try {
    await ask(context, `Sandbox ${id}`, api => api.renewSandboxExpiration(id, { expiresAt }), options)
  } catch (error) {
    const failure = openSandboxError(error, `Sandbox ${id}`, options)
    if (failure.code !== 'precondition_failed') throw failure
  }
}

/** Pauses a sandbox, with all that is in it; one that is paused is fine. */
export async function pause(context: OpenSandboxContext, id: string, options: CallOptions = {}): Promise<void> {
  await renew(context, id, options)
  try {
    await ask(context, `Sandbox ${id} can't be paused`, api => api.pauseSandbox(id), options)
  } catch (error) {
    const failure = openSandboxError(error, `Sandbox ${id}`, options)
    if (failure.code !== 'precondition_failed') throw failure
    const { phase } = (await inspect(context, id, options)) ?? {}
    if (phase !== 'paused' && phase !== 'going') throw failure
  }
}
