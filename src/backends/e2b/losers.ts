import { toWorkspaceError } from '../../lib/errors.ts'
import { connectSandbox, removeSandboxes } from './create.ts'
import { runCommand } from './exec.ts'
import type { Listed } from './record.ts'
import { ask, type E2bContext } from './service.ts'

/** Prints a line for a workdir that holds something, and one for a gateway that was dialled. */
const LOOK = `[ -n "$(ls -A "$1" 2>/dev/null)" ] && echo data; for s in /tmp/.atelier-*/s; do [ -e "$s" ] && echo used; done; true`
const LOOK_MS = 30_000

/**
 * Sandboxes that another one of the same workspace came before: what is empty and unused goes, what holds data stays as it was and is
 * reported once.
 */
export async function settleLosers(context: E2bContext, losers: readonly Listed[]): Promise<void> {
  for (const loser of losers) {
    if (context.reported.has(loser.sandboxId)) continue
    try {
      await settle(context, loser)
    } catch (error) {
      const { code, message } = toWorkspaceError(error)
      if (code !== 'environment_gone')
        context.logger.warn({ sandbox: loser.sandboxId, reason: message }, 'a second sandbox was left')
    }
  }
}

async function settle(context: E2bContext, { sandboxId, state, record }: Listed): Promise<void> {
  if (await isEmpty(context, { sandboxId, state, workdir: record.workdir })) return removeSandboxes(context, [{ sandboxId }])
  context.reported.add(sandboxId)
  if (state === 'paused') await ask(`Sandbox ${sandboxId}`, () => context.sandboxes.pause(sandboxId))
  context.logger.warn(
    { sandbox: sandboxId, workspace: record.id },
    `workspace "${record.name}" has a second sandbox, ${sandboxId}, which holds files or is in use; it is left as it is`,
  )
}

/** Whether nothing is lost with it: no files, and where it runs nobody's gateway. */
export async function isEmpty(
  context: E2bContext,
  { sandboxId, state, workdir }: { sandboxId: string; state: Listed['state']; workdir: string },
): Promise<boolean> {
  const sandbox = await connectSandbox(context, sandboxId)
  const { stdout } = await runCommand(sandbox, ['sh', '-c', LOOK, 'sh', workdir], {
    timeoutMs: LOOK_MS,
    user: context.settings.user,
  })
  const found = Buffer.from(stdout).toString()
  return !found.includes('data') && (state === 'paused' || !found.includes('used'))
}
