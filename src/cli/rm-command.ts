import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Backend, EnvironmentInfo } from '../backends/backend.ts'
import type { Config } from '../config.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import { createListStore } from '../mcp/nested/list-store.ts'
import { createLogger, createServices } from '../services.ts'
import { configuredBackends, resolveWorkspaces } from './backends.ts'
import { withProgress } from './progress-bar.ts'

export interface RemoveOptions {
  refs: readonly string[]
  /** Don't ask. */
  yes: boolean
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
}

/** Removes workspaces with their files, after asking on a terminal; gives what to print. The exit code is 1 when one could not go. */
export async function removeWorkspaces(
  config: Config,
  options: RemoveOptions,
): Promise<{ out: string; err: string; code: number }> {
  const { refs, yes, output } = options
  const infos = [...new Map((await resolveWorkspaces(config, refs, { user: config.user })).map(info => [info.id, info])).values()]
  const kept = infos.find(info => !info.madeByAtelier)
  if (kept !== undefined)
    throw new WorkspaceError(
      'permission_denied',
      `Workspace ${kept.id} works in a directory of yours (${kept.workdir}), which stays.`,
      {
        hint: 'Remove the directory itself if it is not needed any more.',
      },
    )
  if (!yes && !(await isConfirmed(infos, options))) return { out: '', err: 'Nothing was removed.\n', code: 1 }
  const done: string[] = []
  const failed: string[] = []
  const { loaded } = await configuredBackends(config)
  await withProgress(infos, output, async info => {
    const { id, name, backend } = info
    try {
      await removeOne(
        config,
        info,
        loaded.find(each => each.name === backend),
      )
      done.push(`Removed ${name} (${id}) on ${backend}.\n`)
    } catch (error) {
      failed.push(`${name} (${id}) was not removed: ${toWorkspaceError(error).text}\n`)
    }
  })
  return { out: done.join(''), err: failed.join(''), code: failed.length > 0 ? 1 : 0 }
}

/** What runs is ended in order; what does not is not started for it, where its backend can do without. */
async function removeOne(config: Config, info: EnvironmentInfo, backend: Backend | undefined): Promise<void> {
  if (info.state !== 'running' && backend?.remove !== undefined) {
    await backend.remove(info)
    createListStore(join(config.dataDir, 'lists'), createLogger(config.logLevel)).forget(info.id)
    return
  }
  // Its own backend is asked first, and so no other one that may not answer.
  await using services = await createServices({ ...config, backend: info.backend, allowLocal: true })
  await services.manager.destroy(info.owner, info.id)
}

async function isConfirmed(infos: readonly EnvironmentInfo[], { input, output }: RemoveOptions): Promise<boolean> {
  if (!input.isTTY || !output.isTTY)
    throw new WorkspaceError('precondition_failed', 'Files would be removed for good, and there is no terminal to ask on.', {
      hint: 'Add --yes.',
    })
  const lines = createInterface({ input, output })
  try {
    const names = infos.map(({ name, id, backend }) => `${name} (${id}, ${backend})`).join(', ')
    const answer = await lines.question(`Remove ${names} with all files? [y/N] `)
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
