import { createHash } from 'node:crypto'

/** Most characters of a shown name: clients put a prefix of their own before it, and allow 64 in all. */
export const NAME_LIMIT = 48
const HASH_CHARS = 8
const PREFIX = 'mcp__'

/**
 * The name under which a nested tool or prompt is shown: `mcp__<server>__<name>`. It depends on the two names alone, so it never
 * changes, and no two pairs share one: where characters had to go, or the parts could be read in two ways, it ends with a hash.
 */
export function nestedName(server: string, name: string, limit = NAME_LIMIT): string {
  const whole = `${PREFIX}${server}__${name}`
  if (isPlain(server) && /^[A-Za-z0-9_-]+$/.test(whole) && whole.length <= limit) return whole
  const hash = createHash('sha256').update(`${server}\n${name}`).digest('hex').slice(0, HASH_CHARS)
  return `${whole.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, limit - HASH_CHARS - 1)}_${hash}`
}

/** Whether a name has the form of a nested one. */
export function isNestedName(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** What stands after a server's prefix, where the name was shown unchanged. */
export function plainPart(shown: string, server: string): string | undefined {
  const prefix = `${PREFIX}${server}__`
  return isPlain(server) && shown.startsWith(prefix) && shown.length > prefix.length ? shown.slice(prefix.length) : undefined
}

/** A server name after which `__` can only be the separator. */
function isPlain(server: string): boolean {
  return !server.includes('__') && !server.endsWith('_')
}
