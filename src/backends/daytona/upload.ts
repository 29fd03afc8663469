import { posix } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, UploadFile } from '../backend.ts'
import { execInside } from './exec.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'

const LIMIT_SECONDS = 600
/** The mode that the service gives to a new file. */
const PLAIN_MODE = 0o644

/** Puts files in with one request; those with a mode of their own get it by a second. Folders above them are made. */
export async function uploadInside(
  context: DaytonaContext,
  sandbox: Sandbox,
  files: readonly UploadFile[],
  { signal, folder }: CallOptions & { folder: string },
): Promise<void> {
  const placed = files.map(({ path, data, mode }) => ({ mode, source: bufferOf(data), destination: posix.resolve(folder, path) }))
  const what = `Files were not put into sandbox ${sandbox.name}`
  const send = () =>
    sandbox.fs.uploadFiles(
      placed.map(({ source, destination }) => ({ source, destination })),
      LIMIT_SECONDS,
    )
  await context.calls.run(what, send, { signal, repeatable: true })
  const special = placed.filter(({ mode }) => mode !== PLAIN_MODE)
  if (special.length === 0) return
  const modes = special.flatMap(({ mode, destination }) => [mode.toString(8), destination])
  const script = 'while [ $# -gt 0 ]; do chmod "$1" "$2" || exit 1; shift 2; done'
  const { exitCode, stderr } = await execInside(context, sandbox, ['sh', '-c', script, 'sh', ...modes], { signal })
  if (exitCode !== 0) throw new WorkspaceError('permission_denied', `${what}: ${Buffer.from(stderr).toString().trim()}.`)
}

/** The SDK takes a plain array of bytes for a list of numbers. */
function bufferOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}
