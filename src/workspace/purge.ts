import type { NestedServers } from './nested-servers/port.ts'
import type { Offload } from './offload/offloader.ts'
import type { Skills } from './skills/port.ts'

/** The parts of a workspace that keep something of a session or an agent. */
export interface Keeping {
  readonly nested?: Pick<NestedServers, 'purgeSession' | 'purgeAgent'> | undefined
  readonly offload: Pick<Offload, 'purgeSession' | 'sweep'>
  readonly skills: Pick<Skills, 'purgeAgent'>
}

/**
 * Ends a session's nested servers, forgets their declarations and removes what it offloaded, with the old blobs that nothing
 * refers to since then. Rejects after all was tried.
 */
export async function purgeSession(parts: Keeping, scope: { agent: string; session: string }): Promise<void> {
  // Without an id there is no folder: an unnamed client's has a random name.
  const offloaded = scope.session === '' ? undefined : purgeOffloaded(parts, scope.session)
  await all([parts.nested?.purgeSession(scope), offloaded])
}

async function purgeOffloaded({ offload }: Keeping, session: string): Promise<void> {
  if (await offload.purgeSession(session)) await offload.sweep()
}

/** Removes an agent's skills and its nested servers, of every session. Rejects after all was tried. */
export async function purgeAgent(parts: Keeping, agent: string): Promise<void> {
  await all([parts.nested?.purgeAgent(agent), parts.skills.purgeAgent(agent)])
}

async function all(tasks: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  if (failed.length > 0) throw failed.length === 1 ? failed[0] : new AggregateError(failed, 'Not everything could be removed.')
}
