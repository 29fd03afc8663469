import type { Backend, Leftover } from '../../src/backends/backend.ts'

/** What a backend would prune, or prunes. */
export async function leftovers(backend: Backend, options: { dryRun: boolean }): Promise<Leftover[]> {
  const found: Leftover[] = []
  for await (const leftover of backend.prune?.(options) ?? []) found.push(leftover)
  return found
}
