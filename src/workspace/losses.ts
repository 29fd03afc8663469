import type { EnvironmentInfo } from '../backends/backend.ts'
import { toWorkspaceError } from '../lib/errors.ts'
import type { GatewayClient } from '../link/gateway-client.ts'

/** The sentence after a gateway, or the environment around it, was started anew with its files in place. */
export function restarted(info: EnvironmentInfo): string {
  return `Workspace "${info.name}" was restarted${because(info)}: running commands, the shell's directory and variables, and what was read before were lost. Files are as they were.`
}

/** The sentence after an environment was gone and another was made in its place. */
export function madeAgain(info: EnvironmentInfo): string {
  return `Workspace "${info.name}" was gone${because(info)} and has been made again: running commands and shell state were lost, and every file that was not on lasting storage. Check what is in ${info.workdir}.`
}

function because({ ended }: EnvironmentInfo): string {
  return ended === undefined ? '' : ` (${ended})`
}

/** Whether it is still the environment of before, files outside the workdir included. */
export function isSame(before: EnvironmentInfo, now: EnvironmentInfo): boolean {
  return before.createdAt === now.createdAt && before.incarnation === now.incarnation
}

/** Whether an error says that an environment is not there any more. */
export function isLost(error: unknown): boolean {
  const { code } = toWorkspaceError(error)
  return code === 'environment_lost' || code === 'environment_gone'
}

/** Whether a client whose call failed with `error` is of no more use. */
export function isDead({ state }: Pick<GatewayClient, 'state'>, error: unknown): boolean {
  if (state === 'closed') return true
  return state !== 'open' && isLost(error)
}
