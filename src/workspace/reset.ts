import { posix } from 'node:path'
import { toWorkspaceError } from '../lib/errors.ts'
import type { GatewayCalls } from './environment-link.ts'
import { layoutOf } from './layout.ts'

/** What of `.atelier` outlasts a reset: it says whose the workspace is, not what was done in it. */
const KEPT = new Set(['owner.json'])

/**
 * Ends what runs, forgets shell state and read-state, and empties Atelier's own folders under `root`. Nothing else is touched.
 */
export async function resetWorkspace(gateway: GatewayCalls, root: string): Promise<void> {
  await gateway.call('reset', {})
  const layout = layoutOf(root)
  await remove(gateway, layout.mcpFile)
  for (const folder of [layout.data, layout.skills, layout.sessions, layout.own]) await empty(gateway, folder)
}

async function empty(gateway: GatewayCalls, folder: string): Promise<void> {
  for (let truncated = true; truncated; ) {
    const listed = await listIfThere(gateway, folder)
    const names = listed.entries.map(entry => entry.name).filter(name => !KEPT.has(name))
    for (const name of names) await remove(gateway, posix.join(folder, name))
    truncated = listed.truncated && names.length > 0
  }
}

async function listIfThere(gateway: GatewayCalls, path: string) {
  try {
    return await gateway.call('file.list', { path, limit: 1_000 })
  } catch (error) {
    if (toWorkspaceError(error).code === 'not_found') return { entries: [], truncated: false }
    throw error
  }
}

async function remove(gateway: GatewayCalls, path: string): Promise<void> {
  try {
    await gateway.call('file.remove', { path, recursive: true })
  } catch (error) {
    if (toWorkspaceError(error).code !== 'not_found') throw error
  }
}
