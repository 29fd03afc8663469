import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { execInside } from './exec.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'

const LIMIT_MS = 30_000

/** Makes the directory, also where only an administrator may, and says whether it can be written to. */
const SCRIPT = `dir=$1
[ -d "$dir" ] || mkdir -p "$dir" 2>/dev/null || sudo -n mkdir -p "$dir" || exit 1
[ -w "$dir" ] || sudo -n chown "$(id -u):$(id -g)" "$dir" || exit 1
[ -w "$dir" ]`

/** What a running sandbox needs before it can be worked in: its directory, and no time-out of the service that deletes it. */
export async function prepareSandbox(
  context: DaytonaContext,
  sandbox: Sandbox,
  { workdir, ...options }: CallOptions & { workdir: string },
): Promise<void> {
  await Promise.all([makeWorkdir(context, sandbox, { workdir, ...options }), keepFromDeletion(context, sandbox, options)])
}

async function makeWorkdir(
  context: DaytonaContext,
  sandbox: Sandbox,
  { workdir, signal }: CallOptions & { workdir: string },
): Promise<void> {
  const { exitCode, stderr } = await execInside(context, sandbox, ['sh', '-c', SCRIPT, 'sh', workdir], {
    signal,
    timeoutMs: LIMIT_MS,
  })
  if (exitCode === 0) return
  const reason = Buffer.from(stderr).toString().trim().slice(-300) || 'it is not writable'
  throw new WorkspaceError('permission_denied', `The directory ${workdir} can't be used in sandbox ${sandbox.name}: ${reason}.`, {
    hint: 'Set daytona.workdir to a directory that the user of the sandbox can make, or make it in the image.',
  })
}

async function keepFromDeletion({ calls }: DaytonaContext, sandbox: Sandbox, { signal }: CallOptions): Promise<void> {
  const what = `Sandbox ${sandbox.name}: its time-out was not changed`
  const options = { signal, repeatable: true }
  const { autoDeleteInterval, autoDestroyAt } = sandbox
  if (autoDeleteInterval !== undefined && autoDeleteInterval >= 0)
    await calls.run(what, () => sandbox.setAutoDeleteInterval(-1), options)
  if (autoDestroyAt) await calls.run(what, () => sandbox.setTtl(0), options)
}
