import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { builtPath, builtPlaces } from '../lib/built-path.ts'
import { WorkspaceError } from '../lib/errors.ts'

/** Path of a program of this build: `given`, else where builds put it. Throws `precondition_failed`, calling it `what`, where there is none. */
export function builtProgram({ name, what }: { name: string; what: string }, given: string | undefined): string {
  const found = given ?? builtPath(name)
  if (found !== undefined) return found
  throw new WorkspaceError('precondition_failed', `The ${what} was not found in ${builtPlaces(name).join(', ')}`, {
    hint: 'Build it: npm run build.',
  })
}

/** Kills a child that still runs, and waits for its end. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
