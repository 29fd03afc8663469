import type { IncomingHttpHeaders } from 'node:http'
import { WorkspaceError } from '../lib/errors.ts'
import type { Scope } from '../manager/scope.ts'

const ID = /^[A-Za-z0-9_][A-Za-z0-9._@:+=-]{0,127}$/

/** Whether a name may stand for a user, an agent or a session. */
export const isScopeId = (id: string): boolean => ID.test(id)

/** Reads `Atelier-Agent` and `Atelier-Session`. Throws `invalid_argument` for a malformed one. */
export function scopeFromHeaders(headers: IncomingHttpHeaders, defaults: Scope): Scope {
  return {
    user: defaults.user,
    agent: read(headers, 'Atelier-Agent') ?? defaults.agent,
    session: read(headers, 'Atelier-Session') ?? defaults.session,
  }
}

function read(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && isScopeId(value)) return value
  throw new WorkspaceError('invalid_argument', `The header ${name} has the value ${JSON.stringify(value)}, which is no id.`, {
    hint: 'Use up to 128 letters, digits and . _ @ : + = -, starting with a letter, a digit or _.',
  })
}
