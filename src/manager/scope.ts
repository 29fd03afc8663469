/** Who is asking. Agent and session are `''` when unnamed. */
export interface Scope {
  user: string
  agent: string
  session: string
}

export const ISOLATION_POLICIES = ['per_session', 'per_agent', 'per_user'] as const
export type IsolationPolicy = (typeof ISOLATION_POLICIES)[number]
