import { createHash, randomBytes } from 'node:crypto'
import type { BackendName } from '../backends/backend.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { IsolationPolicy, Scope } from './scope.ts'

/** Name of the workspace that a scope has without asking for one. */
export const DEFAULT_NAME = 'default'

const ID = /^ws-[a-z2-7]{20}$/
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Id of a workspace that Atelier makes: the same on every host for the same policy, backend, scope and name. */
export function namedId(policy: IsolationPolicy, backend: BackendName, scope: Scope, name: string): string {
  return hashed(['named', policy, backend, ...ownerParts(policy, scope), name])
}

/** Id of a directory that the user already had, by its real path: all scopes of one user share it. */
export function directoryId(backend: BackendName, user: string, realPath: string, layout?: 'workdir'): string {
  return hashed(['directory', backend, user, realPath, ...(layout === undefined ? [] : [layout])])
}

/** Whether `text` has the form of a workspace id. */
export function isId(text: string): boolean {
  return ID.test(text)
}

/** A name that nobody has: for a workspace that was asked for without one. */
export function freshName(): string {
  return `workspace-${base32(randomBytes(5))}`
}

/** Throws `invalid_argument` unless `name` may be given to a workspace: 1–64 letters, digits, `-`, `_`, `.`, no dot in front. */
export function checkName(name: string): void {
  if (NAME.test(name) && !isId(name)) return
  const why = isId(name) ? 'it has the form of an id' : 'a name has 1 to 64 letters, digits, "-", "_" or ".", and no dot in front'
  throw new WorkspaceError('invalid_argument', `${JSON.stringify(clip(name))} can't be the name of a workspace: ${why}.`)
}

/** Throws `invalid_argument` unless `ref` may be an id or a name. */
export function checkRef(ref: string): void {
  if (isId(ref) || NAME.test(ref)) return
  throw new WorkspaceError('invalid_argument', `${JSON.stringify(clip(ref))} is neither the id nor the name of a workspace.`, {
    hint: 'workspace_list shows the ids and names.',
  })
}

const MAX_SCOPE_ID = 256

/** Throws `invalid_argument` unless user, agent and session may stand in labels, logs and folder names. */
export function checkScope(scope: Scope): void {
  for (const part of ['user', 'agent', 'session'] as const) {
    const id = scope[part]
    if (id.length <= MAX_SCOPE_ID && !/[\p{Cc}\p{Cs}]/u.test(id)) continue
    throw new WorkspaceError('invalid_argument', `${JSON.stringify(clip(id))} can't be the name of a ${part}.`, {
      hint: `Use up to ${MAX_SCOPE_ID} characters, no control characters.`,
    })
  }
}

function ownerParts(policy: IsolationPolicy, { user, agent, session }: Scope): string[] {
  if (policy === 'per_user') return [user]
  return policy === 'per_agent' ? [user, agent] : [user, agent, session]
}

function hashed(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of ['atelier', ...parts]) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return `ws-${base32(hash.digest()).slice(0, 20)}`
}

/** Lower-case base 32 without padding; the bits that don't fill a digit are left out. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let value = 0
  let bits = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    for (; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31]
  }
  return text
}

function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
