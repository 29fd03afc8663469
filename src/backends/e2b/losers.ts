import { toWorkspaceError } from '../../lib/errors.ts'
import { connectSandbox, removeSandboxes } from './create.ts'
import { runCommand } from './exec.ts'
import type { Listed } from './record.ts'
import { ask, type E2bContext } from './service.ts'

/** Prints a line for a workdir that holds something, one for a gateway that is dialled, and one for any that ever was. */
const LOOK = `[ -n "$(ls -A "$1" 2>/dev/null)" ] && echo data
for d in /tmp/.atelier-*/; do [ -e "$d" ] && echo gateway; [ -e "$d/s" ] && echo used; done; true`
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

async function settle(context: E2bContext, loser: Listed): Promise<void> {
  const { sandboxId, state, record } = loser
  if (await isEmpty(context, loser)) return removeSandboxes(context, [{ sandboxId }])
  context.reported.add(sandboxId)
  if (state === 'paused') await ask(`Sandbox ${sandboxId}`, () => context.sandboxes.pause(sandboxId))
  context.logger.warn(
    { sandbox: sandboxId, workspace: record.id },
    `workspace "${record.name}" has a second sandbox, ${sandboxId}, which holds files or is in use; it is left as it is`,
  )
}

/** What there is in a sandbox. */
interface Inside {
  /** Files in its workdir. */
  data: boolean
  /** A gateway runs. */
  used: boolean
  /** A host was given it once, and put its gateway in. */
  gateway: boolean
}

/** Looks into a sandbox, which is resumed for that and then left running. */
export async function lookInside(context: E2bContext, { sandboxId, record }: Listed): Promise<Inside> {
  const sandbox = await connectSandbox(context, sandboxId)
  const { stdout } = await runCommand(sandbox, ['sh', '-c', LOOK, 'sh', record.workdir], {
    timeoutMs: LOOK_MS,
    user: context.settings.user,
  })
  const lines = Buffer.from(stdout).toString().split('\n')
  return { data: lines.includes('data'), used: lines.includes('used'), gateway: lines.includes('gateway') }
}

/** Whether nothing is lost with it: no files, and where it runs nobody's gateway. */
export async function isEmpty(context: E2bContext, listed: Listed): Promise<boolean> {
  const { data, used } = await lookInside(context, listed)
  return !data && (listed.state === 'paused' || !used)
}
