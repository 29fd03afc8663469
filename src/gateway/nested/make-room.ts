import type { NestedScope } from '../protocol-nested.ts'

/** What of a running server decides whether it may go. */
export interface Candidate {
  readonly params: { scope: NestedScope }
  /** Whether nobody works with it, or is about to. */
  readonly idle: boolean
  /** Since a host last had to do with it, in ms. */
  readonly idleMs: number
}

/** Whether two scopes are one. */
export function isSameScope(one: NestedScope, other: NestedScope): boolean {
  return one.agent === other.agent && one.session === other.session
}

/**
 * Who has to end so that one more server of `scope` runs within `maxLive`: servers of other scopes of which all are idle, those of
 * the scope that was used least recently first. Fewer than it takes where the rest is in use.
 */
export function whoMakesRoom<C extends Candidate>(running: readonly C[], scope: NestedScope, maxLive: number): C[] {
  const tooMany = Math.max(0, running.length + 1 - maxLive)
  const dispensable = scopesOf(running.filter(({ params }) => !isSameScope(params.scope, scope)))
    .filter(servers => servers.every(({ idle }) => idle))
    .sort((a, b) => sinceUse(b) - sinceUse(a))
    .flatMap(servers => servers.sort((a, b) => b.idleMs - a.idleMs))
  return dispensable.slice(0, tooMany)
}

const sinceUse = (servers: readonly Candidate[]): number => Math.min(...servers.map(({ idleMs }) => idleMs))

function scopesOf<C extends Candidate>(servers: readonly C[]): C[][] {
  const scopes: C[][] = []
  for (const server of servers) {
    const known = scopes.find(([first]) => first !== undefined && isSameScope(first.params.scope, server.params.scope))
    if (known === undefined) scopes.push([server])
    else known.push(server)
  }
  return scopes
}
