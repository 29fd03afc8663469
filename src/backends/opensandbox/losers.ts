import { toWorkspaceError } from '../../lib/errors.ts'
import { removeSandboxes } from './create.ts'
import type { OpenSandboxContext } from './service.ts'
import type { Listed } from './state.ts'

/** A sandbox that was not handed out for so long was left by its maker. Ms, by the server's clock and ours. */
export const LEFT_BEHIND_MS = 10 * 60_000

/**
 * Sandboxes that another one of the same workspace came before: what was never handed out holds nothing and goes, by its maker's hand
 * or once that is gone; what was may hold data, stays as it is and is reported once.
 */
export async function settleLosers(context: OpenSandboxContext, losers: readonly Listed[]): Promise<void> {
  for (const { sandboxId, record, createdAt } of losers) {
    if (record.handedOut === undefined) {
      if (Date.now() - createdAt > LEFT_BEHIND_MS) await removeSandboxes(context, [sandboxId])
      continue
    }
    if (context.reported.has(sandboxId)) continue
    context.reported.add(sandboxId)
    context.logger.warn(
      { sandbox: sandboxId, workspace: record.id },
      `workspace "${record.name}" has a second sandbox, ${sandboxId}, which may hold files; it is left as it is`,
    )
  }
}

/** What was left behind by hosts that never came back, before anyone was given it. */
export function isLeftBehind({ record, createdAt }: Listed, now = Date.now()): boolean {
  return record.handedOut === undefined && now - createdAt > LEFT_BEHIND_MS
}

/** A running sandbox that no host has used for its time. */
export function isUnused({ phase, record, createdAt }: Listed, now = Date.now()): boolean {
  const { ttlMs, seen = createdAt } = record
  return phase === 'running' && record.handedOut !== undefined && ttlMs > 0 && now - seen > ttlMs
}

/** The reason why a chore was not done, for the log. */
export function reasonText(error: unknown): string {
  return toWorkspaceError(error).message
}
