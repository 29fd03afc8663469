import type { EnvironmentInfo } from '../backends/backend.ts'
import type { Config } from '../config.ts'
import { findWorkspaces, type Unasked } from './backends.ts'
import { textTable } from './table.ts'

export interface ListOptions {
  /** Of every user, not the configured one alone. */
  all?: boolean
  json?: boolean
}

/** What `atelier ls` prints, and on stderr what could not be asked; the exit code is 1 when a backend could not. */
export async function listWorkspaces(
  config: Config,
  { all, json }: ListOptions,
): Promise<{ out: string; err: string; code: number }> {
  const { found, failed } = await findWorkspaces(config, all ? {} : { user: config.user })
  const ordered = found.sort((a, b) => a.backend.localeCompare(b.backend) || b.createdAt.localeCompare(a.createdAt))
  const out = json ? `${JSON.stringify(ordered.map(shown), undefined, 2)}\n` : asTable(ordered, all === true)
  return { out, err: failed.map(unaskedText).join(''), code: failed.length > 0 ? 1 : 0 }
}

/** Variables may hold secrets. */
function shown({ env: _, ...info }: EnvironmentInfo): Omit<EnvironmentInfo, 'env'> {
  return info
}

function asTable(infos: readonly EnvironmentInfo[], withUser: boolean): string {
  if (infos.length === 0) return 'There are no workspaces.\n'
  const user = (info: EnvironmentInfo) => (withUser ? [info.owner.user] : [])
  return textTable(
    ['ID', 'NAME', 'BACKEND', 'STATE', ...(withUser ? ['USER'] : []), 'AGENT', 'CREATED', 'DIRECTORY'],
    infos.map(info => [
      info.id,
      info.name,
      info.backend,
      info.state,
      ...user(info),
      info.owner.agent,
      info.createdAt.slice(0, 16).replace('T', ' '),
      info.directory ?? info.workdir,
    ]),
  )
}

/** A backend that could not be asked, for a person. */
export function unaskedText({ backend, error }: Unasked): string {
  return `${backend}: ${error.text}\n`
}
