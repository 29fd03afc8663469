import { toWorkspaceError, type WorkspaceError } from '../../src/lib/errors.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

export const OWNER = { user: 'u', agent: '', session: '' }

/** Runs a command and gives its whole text. */
export async function sh(workspace: Workspace, command: string, more: object = {}): Promise<string> {
  const { output } = await workspace.shell.run({ session: 's', command, ...more })
  return `${output.head}${output.tail}`.trim()
}

/** The error of something that must fail. */
export async function failure(promise: Promise<unknown>): Promise<WorkspaceError> {
  try {
    await promise
  } catch (error) {
    return toWorkspaceError(error)
  }
  throw new Error('it did not fail')
}
