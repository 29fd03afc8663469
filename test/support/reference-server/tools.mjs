import { CONFORMANCE_TOOLS } from './conformance-tools.mjs'
import { FEATURE_TOOLS } from './feature-tools.mjs'
import { RpcError } from './peer.mjs'

/** `tools/list` and `tools/call`; a tool's `run` gets its arguments, the call, and what the server is made of. */
export function createTools(server) {
  const { state, tasks } = server
  const all = () => ({
    ...CONFORMANCE_TOOLS,
    ...FEATURE_TOOLS,
    ...(state.extra && {
      extra_tool: { description: 'Comes and goes', inputSchema: { type: 'object' }, run: () => ({ content: [] }) },
    }),
  })
  return {
    list: () => Object.entries(all()).map(([name, { run: _, ...shown }]) => ({ name, ...shown })),
    call: async (params, call) => {
      const tool = all()[params.name]
      if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${params.name}`)
      if (params.task !== undefined && tool.execution !== undefined) return tasks.start(params.task.ttl ?? null)
      return tool.run(params.arguments ?? {}, call, { ...server, params })
    },
  }
}
