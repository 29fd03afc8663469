import type { CallOptions, OwnerFilter } from '../backend.ts'
import { statusOf } from './errors.ts'
import { labelQuery } from './record.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'

const NOT_FOUND = 404

/** The sandbox of a name or id; `undefined` when there is none. */
export async function findSandbox(
  { client, calls }: DaytonaContext,
  name: string,
  { signal }: CallOptions = {},
): Promise<Sandbox | undefined> {
  try {
    return await calls.run(`Sandbox ${name}`, () => client.get(name), { signal, repeatable: true })
  } catch (error) {
    if (statusOf(error) === NOT_FOUND) return undefined
    throw error
  }
}

/** Asks anew what a sandbox is; `false` when it is not there any more. */
export async function refresh({ calls }: DaytonaContext, sandbox: Sandbox, { signal }: CallOptions = {}): Promise<boolean> {
  try {
    await calls.run(`Sandbox ${sandbox.name}`, () => sandbox.refreshData(), { signal, repeatable: true })
    return true
  } catch (error) {
    if (statusOf(error) === NOT_FOUND) return false
    throw error
  }
}

/** All sandboxes of an owner's workspaces, or of everybody's. */
export async function allSandboxes(
  { client, calls, settings }: DaytonaContext,
  owner: OwnerFilter,
  { signal }: CallOptions = {},
): Promise<Sandbox[]> {
  const query = { labels: labelQuery(owner, settings.namespace) }
  // A listing of the SDK that failed once is over; so it is begun anew, and nothing is given out before it is whole.
  const all = async (): Promise<Sandbox[]> => {
    const found: Sandbox[] = []
    for await (const sandbox of client.list(query)) found.push(sandbox)
    return found
  }
  return calls.run('Listing sandboxes', all, { signal, repeatable: true })
}
