import { toWorkspaceError } from '../../lib/errors.ts'
import { madeBy, removeSandboxes } from './create.ts'
import { runCommand } from './exec.ts'
import { execdOf } from './execd.ts'
import { inspect, type OpenSandboxContext } from './service.ts'
import type { Listed } from './state.ts'

/** Prints a line for a workdir that holds something, and one for a gateway that was put in. */
const LOOK = `[ -n "$(ls -A "$1" 2>/dev/null)" ] && echo data; ls -d /tmp/.atelier-* 2>/dev/null; true`
const LOOK_MS = 30_000

/** Removes what a call made, a second one too that a lost answer left, unless somebody came to use it since. */
export async function takeBack(context: OpenSandboxContext, { sandboxId, record }: Listed): Promise<void> {
  const made = await madeBy(context, record).catch(() => [])
  for (const id of new Set([sandboxId, ...made])) {
    try {
      if (await isUnused(context, id)) await removeSandboxes(context, [id])
      else context.logger.warn({ sandbox: id }, 'a sandbox that this call made is in use by another host: it was left')
    } catch (error) {
      context.logger.warn({ sandbox: id, reason: toWorkspaceError(error).message }, 'a sandbox was left')
    }
  }
}

/** What was not handed out nobody uses; what was may still be as it came. */
async function isUnused(context: OpenSandboxContext, id: string): Promise<boolean> {
  const found = await inspect(context, id)
  if (found === undefined || found.record.handedOut === undefined) return true
  if (found.phase !== 'running') return false
  const argv = ['sh', '-c', LOOK, 'sh', found.record.workdir]
  const { stdout } = await runCommand(context, await execdOf(context, id), argv, { timeoutMs: LOOK_MS })
  return stdout.length === 0
}
