import type { JsonRpcAnswer, JsonRpcRequest } from '../message.ts'
import { isTooLarge, limitsFor, offloadResult } from '../offload-result.ts'
import { conversationOf, type SessionContext } from '../session-context.ts'
import { isObject } from '../shape.ts'
import type { NestedLink } from './nested-link.ts'

/** Requests whose answer is a tool's result. */
const RESULTS_OF = new Set(['tools/call', 'tasks/result'])

/** The answer itself, at once, unless it is a tool's result that is too large: then with the result offloaded. */
export function lighterAnswer(
  context: SessionContext,
  { link, request }: { link: NestedLink; request: JsonRpcRequest },
  answer: JsonRpcAnswer,
): JsonRpcAnswer | Promise<JsonRpcAnswer> {
  const { result } = answer
  const { method, params = {} } = request
  if (context.state.largeResults || !RESULTS_OF.has(method) || !isObject(result)) return answer
  const { logger } = context.services
  const { tool, name, shown } = calledTool(link, params)
  const limits = limitsFor(tool, context.services.limits)
  if (!isTooLarge(result, { params, limits })) return answer
  const large = {
    ...{ tool: name, params, limits, logger },
    conversation: conversationOf(context, params),
    // A client may check `structuredContent` against the schema that it was shown.
    keepStructured: shown && (tool === undefined || tool.outputSchema !== undefined),
    offload: async () => link.workspace.offload,
  }
  return offloadResult(result, large).then(lighter => ({ ...answer, result: lighter }))
}

/** The declaration of the called tool where it is known, a name for it, and whether its schema is the one that the client sees. */
function calledTool({ catalogue }: NestedLink, params: Record<string, unknown>) {
  const name = typeof params.name === 'string' ? params.name : 'task'
  if (name !== 'mcp_call' || !isObject(params.arguments)) {
    return { name, shown: true, tool: catalogue.lists.tools.find(tool => tool.name === name) }
  }
  const { server, tool: wanted } = params.arguments
  const tools = catalogue.server(String(server))?.lists.tools ?? []
  return { name: String(wanted), shown: false, tool: tools.find(tool => tool.name === wanted) }
}
