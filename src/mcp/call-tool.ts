import { toWorkspaceError } from '../lib/errors.ts'
import type { Lease } from '../manager/manager.ts'
import { bySentence, type ToolAnswer, type ToolContext } from '../tools/tool.ts'
import { confirmationOf } from './confirmation.ts'
import { withLogLink } from './log-link.ts'
import { type MethodExtra, type MethodHandler, RpcError } from './method.ts'
import { namedLinks } from './named-links.ts'
import { isTooLarge, type LargeResult, offloadResult } from './offload-result.ts'
import { createProgress } from './progress.ts'
import { progressTokenOf } from './relay.ts'
import { acquire, conversationOf, type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS, isObject } from './shape.ts'

type Params = Record<string, unknown>

/** Runs a call as a task, where the client asks for one. */
export interface TaskStarter {
  create: MethodHandler
}

/** `tools/call`: an unknown tool, a wrong argument, whatever goes wrong in a tool is an answer that the model can read, never a protocol error. */
export function callTool(context: SessionContext, tasks: TaskStarter): MethodHandler {
  return async (params, extra) => {
    const { name, arguments: args = {} } = params
    if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, 'tools/call needs "name", a string.')
    if (params.task !== undefined) return tasks.create(params, extra)
    if (!isObject(args)) return toolResult({ text: `The arguments of ${name} must be an object.`, isError: true }, [], params)
    extra.signal.throwIfAborted()
    return runTool(context, { name, args, params, extra })
  }
}

export interface Call {
  name: string
  args: Params
  params: Params
  extra: MethodExtra
}

/** Runs a tool and gives its result: with a link to its log, and what is too large moved to the workspace. Never throws. */
export async function runTool(context: SessionContext, call: Call): Promise<Params> {
  const started = performance.now()
  if (typeof call.args.workspace === 'string' || call.name.startsWith('workspace_')) await context.rootsKnown?.()
  const progress = progressOf(call)
  const hold = holdWorkspace(context, call, progress?.push)
  const toolContext: ToolContext = {
    session: context.key,
    agent: scopeOf(context, call.params).agent,
    conversation: conversationOf(context, call.params),
    signal: call.extra.signal,
    workspace: async () => (await hold.lease()).workspace,
    nested: async () => context.nestedTools((await hold.lease()).workspace, scopeOf(context, call.params)),
    directory: context.parts.directory(scopeOf(context, call.params), context.state),
    onProgress: progress?.push,
    confirmation: confirmationOf(context, { related: call.extra.requestId, signal: call.extra.signal }),
  }
  const offload = async () => (await hold.lease()).workspace.offload
  let outcome = 'ok'
  try {
    const answer = await context.parts.tools.run(call.name, call.args, toolContext)
    if (answer.isError) outcome = 'error'
    const plain = toolResult(answer, hold.notices(), call.params)
    const used = hold.used()
    const result = used === undefined ? plain : withLogLink(plain, answer.log, used)
    const shown = answer.offload === false ? result : await light(context, call, { result, offload })
    const other = hold.named()
    return other === undefined ? shown : namedLinks(shown, other)
  } catch (thrown) {
    const error = toWorkspaceError(thrown)
    outcome = call.extra.signal.aborted ? 'cancelled' : error.code
    if (error.code === 'internal') context.services.logger.error({ tool: call.name, error: error.stack }, 'tool failed')
    return toolResult({ text: error.text, isError: true }, hold.notices(), call.params)
  } finally {
    progress?.end()
    hold.release()
    const ms = Math.round(performance.now() - started)
    if (call.extra.signal.aborted) outcome = 'cancelled'
    const about = { tool: call.name, workspace: hold.id(), ms, outcome }
    // the answer goes first
    setImmediate(() => context.services.logger.info(about, 'tool call'))
  }
}

function progressOf({ params, extra }: Call): ReturnType<typeof createProgress> | undefined {
  const progressToken = progressTokenOf(params)
  if (progressToken === undefined) return undefined
  return createProgress(part => extra.notify('notifications/progress', { progressToken, ...part }))
}

/** The call's workspace: acquired at the first use, held to the end of the call, however often it is asked for. */
function holdWorkspace(context: SessionContext, { args, params, extra }: Call, onProgress: ToolContext['onProgress']) {
  let acquiring: Promise<Lease> | undefined
  let lease: Lease | undefined
  let released = false
  const ref = typeof args.workspace === 'string' && args.workspace !== '' ? args.workspace : undefined
  const take = async (): Promise<Lease> => {
    const options = { ref, signal: extra.signal, onProgress: bySentence(onProgress) }
    const taken = await acquire(context, scopeOf(context, params), options)
    if (released) taken.release()
    lease = taken
    return taken
  }
  return {
    lease: () => {
      acquiring ??= take()
      return acquiring
    },
    id: () => lease?.workspace.id,
    used: () => lease?.workspace,
    /** Id of the workspace, where the call named one and used it. */
    named: () => (ref === undefined ? undefined : lease?.workspace.id),
    notices(): string[] {
      const notices = lease?.workspace.takeNotices() ?? []
      for (const notice of notices) context.log('warning', notice, extra.requestId)
      return notices
    },
    release() {
      released = true
      lease?.release()
    },
  }
}

/** The result, with what is too large moved to the workspace unless the client takes results of any size. */
function light(
  context: SessionContext,
  { name, params, extra }: Call,
  { result, offload }: { result: Params } & Pick<LargeResult, 'offload'>,
): Params | Promise<Params> {
  const { limits, logger } = context.services
  if (context.state.largeResults || !isTooLarge(result, { params, limits })) return result
  const conversation = conversationOf(context, params)
  const keepStructured = wantsStructured(params)
  return offloadResult(result, {
    tool: name,
    params,
    limits,
    conversation,
    keepStructured,
    offload,
    signal: extra.signal,
    logger,
  })
}

/** Key of a result's `_meta`: the facts of the answer without its text, for programs. */
export const FACTS_KEY = 'atelier/result'
/** Key of a call's `_meta`: `true` asks for `structuredContent`, text included. */
export const STRUCTURED_KEY = 'atelier/structured'

function wantsStructured({ _meta }: Params): boolean {
  return isObject(_meta) && _meta[STRUCTURED_KEY] === true
}

/** Most clients show `structuredContent` instead of the text, so facts travel beside the result unless they were asked for. */
function toolResult(answer: ToolAnswer, notices: readonly string[], params: Params): Params {
  const { structured } = answer
  const text = notices.length === 0 ? answer.text : `${answer.text}\n\n${notices.map(notice => `Note: ${notice}`).join('\n')}`
  return {
    content: [{ type: 'text', text }, ...(answer.content ?? [])],
    ...(structured !== undefined &&
      (wantsStructured(params) ? { structuredContent: structured } : facts(structured, answer.text))),
    ...(answer.isError === true && { isError: true }),
  }
}

function facts(structured: Params, text: string): Params {
  return { _meta: { [FACTS_KEY]: Object.fromEntries(Object.entries(structured).filter(([, value]) => value !== text)) } }
}
