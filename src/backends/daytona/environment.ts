import { toWorkspaceError, type WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Environment, EnvironmentInfo } from '../backend.ts'
import { execInside } from './exec.ts'
import { findSandbox } from './look-up.ts'
import { openPty } from './pty.ts'
import type { PtyStream } from './pty-stream.ts'
import { removeSandbox } from './remove.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'
import { lostError } from './state.ts'
import { stopSandbox } from './stop.ts'
import { uploadInside } from './upload.ts'

/** A running sandbox as an environment. */
export function createDaytonaEnvironment(context: DaytonaContext, sandbox: Sandbox, info: EnvironmentInfo): Environment {
  const streams = new Set<PtyStream>()
  const guarded = guard(context, sandbox)
  return {
    info,
    openStream: (argv, options) =>
      guarded(async () => {
        const stream = await openPty(context, sandbox, argv, options)
        streams.add(stream)
        void stream.gone.then(() => streams.delete(stream))
        return stream
      }, options),
    exec: (argv, options) => guarded(() => execInside(context, sandbox, argv, options), options),
    upload: (files, options) => guarded(() => uploadInside(context, sandbox, files, { folder: info.root, ...options }), options),
    keepAlive: options => {
      const what = `Sandbox ${sandbox.name} was not kept alive`
      return guarded(() => context.calls.run(what, () => sandbox.refreshActivity(), { ...options, repeatable: true }), options)
    },
    suspend: options => stopSandbox(context, sandbox, options),
    destroy: options => removeSandbox(context, sandbox, options),
    async [Symbol.asyncDispose]() {
      for (const stream of streams) stream.letGo()
    },
  }
}

/** Says what an error really means: most often, that the sandbox was stopped or deleted. */
function guard(context: DaytonaContext, sandbox: Sandbox): <T>(run: () => Promise<T>, options?: CallOptions) => Promise<T> {
  return async (run, options) => {
    try {
      return await run()
    } catch (error) {
      const plain = context.calls.error(error, `Sandbox ${sandbox.name}`)
      if (options?.signal?.aborted || !MAY_BE_LOST.has(plain.code)) throw plain
      throw (await lost(context, sandbox)) ?? plain
    }
  }
}

const MAY_BE_LOST = new Set<WorkspaceError['code']>([
  'unavailable',
  'not_found',
  'invalid_argument',
  'timeout',
  'environment_lost',
])

async function lost(context: DaytonaContext, sandbox: Sandbox): Promise<WorkspaceError | undefined> {
  try {
    return lostError(sandbox.name, await findSandbox(context, sandbox.id))
  } catch (error) {
    const { message } = toWorkspaceError(error)
    context.logger.debug({ sandbox: sandbox.name, reason: message }, 'the service did not say what became of a sandbox')
    return undefined
  }
}
