import { JSON_RPC_CODE, WorkspaceError } from '../lib/errors.ts'
import { callTool } from './call-tool.ts'
import { complete } from './completion.ts'
import type { JobTasks } from './job-tasks.ts'
import { type MethodHandler, type QuickMethod, RpcError } from './method.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, RESOURCE_TEMPLATES, readResources } from './resources.ts'
import { LOG_LEVELS, type LogLevel, type SessionContext } from './session-context.ts'
import { INVALID_PARAMS } from './shape.ts'
import { skillMethods } from './skill-methods.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The methods that the SDK's server serves; each call is in `running` until it has let go of everything. */
export function createMethods(
  context: SessionContext,
  { running, subscriptions, tasks }: { running: Set<Promise<unknown>>; subscriptions: Subscriptions; tasks: JobTasks },
): ReadonlyMap<string, MethodHandler> {
  const methods: Record<string, MethodHandler> = {
    'tools/call': callTool(context, tasks),
    'tasks/get': tasks.get,
    'tasks/result': tasks.result,
    'tasks/cancel': tasks.cancel,
    'resources/list': listResources(context),
    'resources/read': readResources(context),
    'resources/subscribe': subscriptions.subscribe,
    'resources/unsubscribe': subscriptions.unsubscribe,
    'prompts/get': getPrompt(context),
    'completion/complete': complete(context),
    ...skillMethods(context),
  }
  return new Map(Object.entries(methods).map(([name, handler]) => [name, tracked(handler, running)]))
}

function tracked(handler: MethodHandler, running: Set<Promise<unknown>>): MethodHandler {
  return async (params, extra) => {
    const call = handler(params, extra)
    running.add(call)
    try {
      return await call
    } catch (error) {
      throw error instanceof WorkspaceError ? rpcError(error) : error
    } finally {
      running.delete(call)
    }
  }
}

function rpcError(error: WorkspaceError): RpcError {
  return new RpcError(JSON_RPC_CODE[error.code], error.text, { code: error.code })
}

/** What an idle session needs: answered without loading more. */
export function createQuickMethods(
  context: SessionContext,
  { tasks, setLogLevel }: { tasks: JobTasks; setLogLevel(level: LogLevel): void },
): ReadonlyMap<string, QuickMethod> {
  return new Map<string, QuickMethod>([
    ['tools/list', async () => ({ tools: await context.parts.tools.list() })],
    ['tasks/list', () => tasks.list()],
    ['prompts/list', listPrompts(context)],
    ['resources/templates/list', async () => ({ resourceTemplates: RESOURCE_TEMPLATES })],
    [
      'logging/setLevel',
      async ({ level }) => {
        const known = LOG_LEVELS.find(name => name === level)
        if (known === undefined) {
          throw new RpcError(INVALID_PARAMS, `"${String(level)}" is no log level. The levels are: ${LOG_LEVELS.join(', ')}.`)
        }
        setLogLevel(known)
        return {}
      },
    ],
  ])
}
