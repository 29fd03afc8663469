import type { Backend, BackendName, Leftover } from '../backends/backend.ts'
import type { Config } from '../config.ts'
import { toWorkspaceError } from '../lib/errors.ts'
import { configuredBackends, type Unasked } from './backends.ts'
import { unaskedText } from './ls-command.ts'
import { withProgress } from './progress-bar.ts'
import { textTable } from './table.ts'

export interface PruneOptions {
  dryRun: boolean
  json: boolean
  output: NodeJS.WriteStream
}

type Found = Leftover & { backend: BackendName }

/** Removes what nobody owns any more from every backend, or with `dryRun` says what would go. Workspaces' files always stay. */
export async function pruneBackends(config: Config, options: PruneOptions): Promise<{ out: string; err: string; code: number }> {
  const { dryRun, json, output } = options
  const { loaded, failed } = await configuredBackends(config)
  const found: Found[] = []
  await withProgress(loaded, output, async backend => {
    found.push(...(await pruneOne(backend, dryRun, failed)))
  })
  const out = json ? `${JSON.stringify({ dryRun, leftovers: found }, undefined, 2)}\n` : asText(found, dryRun)
  return { out, err: failed.map(unaskedText).join(''), code: failed.length > 0 ? 1 : 0 }
}

/** What was removed before a failure is told all the same. */
async function pruneOne(backend: Backend, dryRun: boolean, failed: Unasked[]): Promise<Found[]> {
  const found: Found[] = []
  try {
    for await (const leftover of backend.prune?.({ dryRun }) ?? []) found.push({ ...leftover, backend: backend.name })
  } catch (error) {
    failed.push({ backend: backend.name, error: toWorkspaceError(error) })
  }
  return found
}

function asText(found: readonly Found[], dryRun: boolean): string {
  if (found.length === 0) return dryRun ? 'Nothing would be removed.\n' : 'Nothing was left over.\n'
  const done = { remove: dryRun ? 'would be removed' : 'removed', suspend: dryRun ? 'would be paused' : 'paused' }
  const rows = found.map(({ backend, kind, name, action, reason }) => [backend, kind, name, done[action], reason])
  return textTable(['BACKEND', 'KIND', 'NAME', 'WHAT', 'WHY'], rows)
}
