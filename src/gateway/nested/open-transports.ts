import { isAbsolute, resolve } from 'node:path'
import { WorkspaceError } from '../../lib/errors.ts'
import { expandHome } from '../../lib/paths.ts'
import { firstEnvironment, MARKER, withoutSecrets } from '../commands/child-env.ts'
import { directoryFault } from '../commands/launch.ts'
import type { MarkedProcesses } from '../commands/tree-end.ts'
import type { LinkContext } from '../dispatch.ts'
import type { NestedCommand, NestedDeclaration } from '../protocol-nested.ts'
import { connectHttp } from './http-transport.ts'
import { connectSse } from './sse-transport.ts'
import { startServer } from './stdio-transport.ts'
import type { NestedTransport, TransportEvents } from './transport.ts'

export interface OpenTransportOptions {
  link: LinkContext
  workdir: string
  mark: string
  marked: MarkedProcesses
}

export type OpenTransport = (events: TransportEvents) => NestedTransport

/** The ways to reach a declared server, the likeliest first. */
export function transportsOf(declaration: NestedDeclaration, options: OpenTransportOptions): OpenTransport[] {
  if (declaration.type === 'stdio') return [events => start(declaration, options, events)]
  const address = { url: urlOf(declaration.url), headers: declaration.headers }
  const http: OpenTransport = events => connectHttp(address, events)
  const sse: OpenTransport = events => connectSse(address, events)
  const [first, other] = declaration.type === 'sse' ? [sse, http] : [http, sse]
  return declaration.fallback ? [first, other] : [first]
}

function start(declaration: NestedCommand, options: OpenTransportOptions, events: TransportEvents): NestedTransport {
  const { link, workdir, mark, marked } = options
  const wanted = expandHome(declaration.cwd ?? workdir, link.env.HOME)
  const cwd = isAbsolute(wanted) ? wanted : resolve(workdir, wanted)
  const fault = directoryFault(cwd)
  if (fault !== undefined) throw new WorkspaceError('not_found', `its directory ${cwd} ${fault}`)
  const env = {
    ...firstEnvironment(link.env),
    ...withoutSecrets(declaration.env),
    PWD: cwd,
    [MARKER]: mark,
  }
  return startServer({ command: declaration.command, args: declaration.args, env, cwd, mark, marked }, events)
}

function urlOf(text: string): URL {
  if (/^https?:\/\/./i.test(text)) {
    try {
      return new URL(text)
    } catch {
      // told below
    }
  }
  throw new WorkspaceError('invalid_argument', `${JSON.stringify(text)} is no http or https URL.`)
}
