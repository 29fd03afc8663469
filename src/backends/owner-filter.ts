import type { EnvironmentInfo, OwnerFilter } from './backend.ts'

/** Whether every part that the filter names is the owner's. */
export function belongsTo(info: EnvironmentInfo, filter: OwnerFilter): boolean {
  const { user, agent, session } = filter
  const same = (wanted: string | undefined, has: string) => wanted === undefined || wanted === has
  return same(user, info.owner.user) && same(agent, info.owner.agent) && same(session, info.owner.session)
}
