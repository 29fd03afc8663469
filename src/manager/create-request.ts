import type { BackendName, EnvironmentInfo } from '../backends/backend.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { CreateRequest } from '../tools/workspace-directory.ts'
import { checkName } from './ids.ts'

/** Refuses what an agent may not choose, or what the backend can't do, by the argument's name. */
export function checkRequest(request: CreateRequest, backend: BackendName, allowedImages: readonly string[] = []): void {
  if (request.name !== undefined) checkName(request.name)
  for (const option of ['image', 'profile'] as const) {
    if (backend === 'local' && request[option] !== undefined) {
      throw new WorkspaceError(
        'invalid_argument',
        `Backend local has no ${option}s: ${JSON.stringify(request[option])} means nothing to it.`,
        {
          hint: `Leave ${option} out, or choose another backend.`,
        },
      )
    }
  }
  if (request.image !== undefined && !allowedImages.includes(request.image)) {
    throw new WorkspaceError('permission_denied', `The image ${JSON.stringify(request.image)} is not allowed here.`, {
      hint: allowedImages.length === 0 ? 'Leave image out.' : `Allowed are: ${allowedImages.join(', ')}.`,
    })
  }
  for (const [name, value] of Object.entries(request.env ?? {})) {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !value.includes('\0')) continue
    throw new WorkspaceError('invalid_argument', `env: ${JSON.stringify(name)} can't be set as a variable of a command.`)
  }
}

/** Refuses an `env` for the default workspace, which is opened without being asked for and so could not keep it. */
export function checkDefaultRequest({ env }: CreateRequest): void {
  if (env === undefined) return
  throw new WorkspaceError('invalid_argument', 'The default workspace takes no env of its own.', {
    hint: 'Create one under another name, or export the variables with Bash.',
  })
}

/** Refuses an `env`, image or profile that differs from what a workspace was made with: it would be ignored. */
export function checkSame(info: EnvironmentInfo, { env, image, profile }: CreateRequest): void {
  const differs = (wanted: string | undefined, has: string | undefined) =>
    wanted !== undefined && has !== undefined && wanted !== has
  const other = [
    ...(env === undefined || sorted(env) === sorted(info.env ?? {}) ? [] : ['env']),
    ...(differs(image, info.details.image) ? ['image'] : []),
    ...(differs(profile, info.details.profile) ? ['profile'] : []),
  ]
  const [what] = other
  if (what === undefined) return
  throw new WorkspaceError(
    'already_exists',
    `The workspace ${JSON.stringify(info.name)} is there already, with another ${what}.`,
    {
      hint: `Leave ${what} out to use it as it is, or choose another name.`,
    },
  )
}

function sorted(env: Record<string, string>): string {
  return JSON.stringify(Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1)))
}
