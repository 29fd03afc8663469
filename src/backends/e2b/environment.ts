import { posix } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Environment, EnvironmentInfo, UploadFile } from '../backend.ts'
import { removeAll } from './create.ts'
import { e2bError } from './errors.ts'
import { runCommand } from './exec.ts'
import { openStream } from './open-stream.ts'
import type { Sandbox } from './sdk.ts'
import { ask, type E2bContext } from './service.ts'
import { DEFAULT_TIMEOUT_MS } from './settings.ts'

/** An upload of the gateway and a node may take so long. */
const UPLOAD_MS = 600_000

/** A running sandbox as an environment. */
export function createE2bEnvironment(context: E2bContext, sandbox: Sandbox, info: EnvironmentInfo): Environment {
  const { sandboxes, settings } = context
  const { timeoutMs = DEFAULT_TIMEOUT_MS, user } = settings
  const what = `Sandbox ${sandbox.sandboxId}`
  const explained = async <T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      throw await explain(context, sandbox.sandboxId, e2bError(error, what, { signal }))
    }
  }
  return {
    info,
    openStream: (argv, options) => explained(() => openStream(context, sandbox, argv, options), options?.signal),
    exec: (argv, options) => explained(() => runCommand(sandbox, argv, { ...options, user }), options?.signal),
    upload: (files, options) => explained(() => upload(sandbox, files, { user, signal: options?.signal }), options?.signal),
    keepAlive: options =>
      ask(what, signal => sandboxes.setTimeout(sandbox.sandboxId, timeoutMs, { ...(signal && { signal }) }), options),
    async suspend(options) {
      await ask(what, signal => sandboxes.pause(sandbox.sandboxId, { ...(signal && { signal }) }), options)
    },
    destroy: options => removeAll(context, info, { ...options, known: [sandbox.sandboxId] }),
    async [Symbol.asyncDispose]() {},
  }
}

/** What an error really means, by the service's own account: most often, that the sandbox is paused or gone. */
async function explain({ sandboxes }: E2bContext, id: string, error: WorkspaceError): Promise<WorkspaceError> {
  if (error.code === 'cancelled' || error.code === 'unauthenticated' || error.code === 'limit_exceeded') return error
  try {
    const { state } = await sandboxes.getInfo(id)
    if (state === 'running') return aliveAfterAll(error)
    return new WorkspaceError('environment_lost', `Sandbox ${id} was paused.`, {
      hint: 'Call again: it is resumed as it was, with all that runs in it.',
      cause: error,
    })
  } catch (reason) {
    const gone = e2bError(reason, `Sandbox ${id}`)
    if (gone.code !== 'environment_gone') return aliveAfterAll(error)
    return new WorkspaceError('environment_gone', `Sandbox ${id} was killed or its time was over; its files are gone.`, {
      hint: gone.hint,
      cause: error,
    })
  }
}

/** The SDK takes any program that does not answer for one whose sandbox is gone. */
function aliveAfterAll(error: WorkspaceError): WorkspaceError {
  if (error.code !== 'environment_gone') return error
  return new WorkspaceError('unavailable', error.message, { cause: error.cause })
}

interface UploadOptions {
  user: string | undefined
  signal: AbortSignal | undefined
}

/** All files in one request; what is to be run gets its permissions by one command. */
async function upload(sandbox: Sandbox, files: readonly UploadFile[], { user, signal }: UploadOptions): Promise<void> {
  const entries = files.map(({ path, data }) => ({ path: posix.resolve(path), data: new Blob([new Uint8Array(data)]) }))
  await sandbox.files.write(entries, {
    requestTimeoutMs: UPLOAD_MS,
    ...(user === undefined ? {} : { user }),
    ...(signal === undefined ? {} : { signal }),
  })
  for (const mode of new Set(files.map(file => file.mode))) {
    const paths = files.filter(file => file.mode === mode).map(({ path }) => posix.resolve(path))
    const { exitCode, stderr } = await runCommand(sandbox, ['chmod', mode.toString(8), ...paths], { user, signal })
    if (exitCode !== 0) throw new WorkspaceError('permission_denied', `chmod: ${Buffer.from(stderr).toString().trim()}`)
  }
}
