import { z } from 'zod'
import { nearest } from '../lib/suggest.ts'
import { declarationFault } from '../workspace/nested-servers/declaration.ts'
import type { ServerDeclaration } from '../workspace/nested-servers/port.ts'

const texts = z.array(z.string())
const textMap = z.record(z.string(), z.string())
const ms = z.number().positive()

/** One server in the shape of Claude Desktop's file, with what Atelier adds to it. */
const SERVER = z.looseObject({
  command: z.string().optional(),
  args: texts.optional(),
  env: textMap.optional(),
  cwd: z.string().optional(),
  url: z.string().optional(),
  headers: textMap.optional(),
  type: z.enum(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse']).optional(),
  enable_tools: texts.optional(),
  disable_tools: texts.optional(),
  expose: z.enum(['prefixed', 'bare', 'hidden']).optional(),
  startTimeoutMs: ms.optional(),
  callTimeoutMs: ms.optional(),
  /** A server that is off for the time being. */
  disabled: z.boolean().optional(),
})
type ConfiguredServer = z.infer<typeof SERVER>

/** Servers by name; each must be one that can be started or dialled. */
export const serversSchema = z.record(z.string(), SERVER).superRefine((servers, context) => {
  for (const [name, server] of Object.entries(servers)) {
    // Other programs' own keys are none of ours; a slip of one of ours is.
    for (const key of Object.keys(server).filter(each => !(each in SERVER.shape))) {
      const meant = nearest(key, Object.keys(SERVER.shape))
      if (meant !== undefined) context.addIssue({ code: 'custom', path: [name, key], message: `unknown; did you mean ${meant}?` })
    }
  }
  for (const declaration of declarationsOf(servers)) {
    const fault = declarationFault(declaration)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [declaration.name], message: fault })
  }
})

/** Configured servers as declarations, in their order; disabled ones are left out. */
export function declarationsOf(servers: Readonly<Record<string, ConfiguredServer>>): ServerDeclaration[] {
  return Object.entries(servers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, server]) => declarationOf(name, server))
}

function declarationOf(name: string, server: ConfiguredServer): ServerDeclaration {
  const { command, args, env, cwd, url, headers, type, expose, startTimeoutMs, callTimeoutMs } = server
  const dialled = type === undefined || type === 'stdio' ? undefined : type === 'sse' ? 'sse' : 'http'
  const tools = { enableTools: server.enable_tools, disableTools: server.disable_tools }
  const all = { name, command, args, env, cwd, url, headers, type: dialled, ...tools, expose, startTimeoutMs, callTimeoutMs }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as ServerDeclaration
}
