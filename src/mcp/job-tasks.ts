import { setTimeout as sleep } from 'node:timers/promises'
import type { JobInfo } from '../gateway/protocol.ts'
import type { Scope } from '../manager/scope.ts'
import { jobState } from '../tools/job-text.ts'
import type { Watch } from '../workspace/watches.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { FACTS_KEY, runTool, STRUCTURED_KEY } from './call-tool.ts'
import { type MethodExtra, type MethodHandler, RpcError } from './method.ts'
import { acquire, type SessionContext, scopeOf } from './session-context.ts'
import { INVALID_PARAMS, isObject, METHOD_NOT_FOUND } from './shape.ts'
import { jobOfTask, taskIdOf } from './task-id.ts'

type Params = Record<string, unknown>

const TASK_TOOL = 'Bash'
const RELATED_KEY = 'io.modelcontextprotocol/related-task'
const IMMEDIATE_KEY = 'io.modelcontextprotocol/model-immediate-response'
/** How often a client should ask. */
const POLL_INTERVAL_MS = 1_000
/** News of a job's end may be missed: it is asked for this often as well. */
const LOOK_MS = 2_000

/** Jobs as the protocol's tasks: a `Bash` call with `task` is a job, and each job of a workspace can be asked for as a task. */
export class JobTasks {
  readonly #context: SessionContext
  /** Jobs that this session cancelled: their state only says by which signal they ended. */
  readonly #cancelled = new Set<string>()
  readonly #watches = new Set<Watch>()
  readonly #tell: (task: Params) => void

  /** `tell` says to the client that a task of its own has ended. */
  constructor(context: SessionContext, tell: (task: Params) => void) {
    this.#context = context
    this.#tell = tell
  }

  /** `tools/call` with `task`: starts the job and answers with the task. */
  readonly create: MethodHandler = async (params, extra) => {
    const { name, arguments: args = {}, task: _, ...rest } = params
    if (name !== TASK_TOOL)
      throw new RpcError(METHOD_NOT_FOUND, `${String(name)} does not run as a task: call it without "task".`)
    if (!isObject(args)) throw new RpcError(INVALID_PARAMS, `The arguments of ${name} must be an object.`)
    const ref = typeof args.workspace === 'string' ? args.workspace : undefined
    using lease = await acquire(this.#context, scopeOf(this.#context, params), { ref, signal: extra.signal })
    const { workspace } = lease
    const background = { ...args, workspace: workspace.id, run_in_background: true }
    const result = await runTool(this.#context, { name, args: background, params: { ...rest, ...innerMeta(params) }, extra })
    const job = factsOf(result).job
    if (typeof job !== 'string') throw new RpcError(INVALID_PARAMS, textOf(result))
    const task = this.#taskOf(workspace.id, await this.#find(workspace, job))
    this.#follow(workspace, job)
    return { task, _meta: { [IMMEDIATE_KEY]: textOf(result) } }
  }

  /** `tasks/get`. */
  readonly get: MethodHandler = (params, extra) =>
    this.#onJob(params, extra, async ({ workspace, job }) => this.#taskOf(workspace.id, job))

  /** `tasks/result`: waits for the end, and gives what `BashOutput` says of the whole job. */
  readonly result: MethodHandler = (params, extra) =>
    this.#onJob(params, extra, async ({ workspace, job }) => {
      const ended = await this.#end(workspace, job, extra.signal)
      const taskId = taskIdOf(workspace.id, job.id)
      const args = { id: job.id, offset: 0, workspace: workspace.id }
      const result = await runTool(this.#context, { name: 'BashOutput', args, params: innerMeta(params), extra })
      const failed = this.#statusOf(workspace.id, ended) !== 'completed'
      const meta = { ...(isObject(result._meta) ? result._meta : {}), [RELATED_KEY]: { taskId } }
      return { ...result, ...(failed && { isError: true }), _meta: meta }
    })

  /** `tasks/cancel`: ends the job with all that it started. */
  readonly cancel: MethodHandler = (params, extra) =>
    this.#onJob(params, extra, async ({ workspace, job }) => {
      const taskId = taskIdOf(workspace.id, job.id)
      if (job.status !== 'running')
        throw new RpcError(INVALID_PARAMS, `The task ${taskId} has ended already: ${jobState(job)}.`, { taskId })
      return this.#taskOf(workspace.id, await this.#kill(workspace, { id: job.id, taskId, signal: extra.signal }))
    })

  /** `tasks/list`: the jobs of the workspaces that this session uses and that are open; none is opened for it. */
  async list(): Promise<Params> {
    const parts = await Promise.all([...this.#context.used].map(id => this.#listed(id)))
    return { tasks: parts.flat() }
  }

  close(): void {
    for (const watch of this.#watches) watch.end()
    this.#watches.clear()
  }

  async #listed(id: string): Promise<Params[]> {
    const { manager, logger } = this.#context.services
    const workspace = manager.opened(id)
    if (workspace === undefined || workspace.lost) return []
    try {
      return (await workspace.shell.jobs()).map(job => this.#taskOf(id, job))
    } catch (error) {
      logger.warn({ workspace: id, error: String(error) }, 'the tasks could not be listed')
      return []
    }
  }

  /** Its end may be told before `killJob` answers, so the mark comes first, and goes where nothing was ended. */
  async #kill(
    workspace: Workspace,
    { id, taskId, signal }: { id: string; taskId: string; signal: AbortSignal },
  ): Promise<JobInfo> {
    const marked = this.#cancelled.has(taskId)
    this.#cancelled.add(taskId)
    try {
      return await workspace.shell.killJob({ id }, { signal })
    } catch (error) {
      if (!marked) this.#cancelled.delete(taskId)
      throw error
    }
  }

  /** Tells of the end of a job, also of one that has ended by now; a client that does not hear it asks anyway. */
  #follow(workspace: Workspace, id: string): void {
    const look = async (): Promise<void> => {
      if (!this.#watches.has(watch)) return
      const job = await this.#find(workspace, id)
      if (job.status === 'running' || !this.#watches.delete(watch)) return
      watch.end()
      this.#tell(this.#taskOf(workspace.id, job))
    }
    const changed = (): void =>
      void look().catch(error => this.#context.services.logger.debug({ error: String(error) }, 'a task was not looked at'))
    const watch = workspace.watches.startOnJobs({ changed, ended: () => this.#watches.delete(watch) })
    this.#watches.add(watch)
    // the answer goes first
    setImmediate(changed)
  }

  async #onJob<T>(
    { taskId, ...params }: Params,
    { signal }: MethodExtra,
    task: (found: { workspace: Workspace; job: JobInfo }) => Promise<T>,
  ): Promise<T> {
    const named = jobOfTask(taskId)
    if (named === undefined) throw noTask(taskId)
    using lease = await this.#acquire(scopeOf(this.#context, params), named.workspace, { taskId, signal })
    const { workspace } = lease
    return task({ workspace, job: await this.#find(workspace, named.job) })
  }

  async #acquire(scope: Scope, ref: string, { taskId, signal }: { taskId: unknown; signal: AbortSignal }) {
    try {
      return await acquire(this.#context, scope, { ref, signal })
    } catch (error) {
      if (isObject(error) && error.code === 'not_found') throw noTask(taskId)
      throw error
    }
  }

  async #find(workspace: Workspace, id: string): Promise<JobInfo> {
    const job = (await workspace.shell.jobs()).find(each => each.id === id)
    if (job === undefined) throw noTask(taskIdOf(workspace.id, id))
    return job
  }

  /** Waits until the job has ended. */
  async #end(workspace: Workspace, job: JobInfo, signal: AbortSignal): Promise<JobInfo> {
    let wake = (): void => {}
    const watch = workspace.watches.startOnJobs({ changed: () => wake(), ended: () => wake() })
    try {
      let now = job
      while (now.status === 'running') {
        const news = new Promise<void>(resolve => {
          wake = resolve
        })
        const late = new AbortController()
        await Promise.race([news, sleep(LOOK_MS, undefined, { signal: AbortSignal.any([signal, late.signal]) }).catch(() => {})])
        late.abort()
        signal.throwIfAborted()
        now = await this.#find(workspace, job.id)
      }
      return now
    } finally {
      watch.end()
    }
  }

  #taskOf(workspace: string, job: JobInfo): Params {
    return {
      taskId: taskIdOf(workspace, job.id),
      status: this.#statusOf(workspace, job),
      statusMessage: jobState(job),
      createdAt: job.startedAt,
      lastUpdatedAt: job.endedAt ?? job.startedAt,
      ttl: null,
      pollInterval: POLL_INTERVAL_MS,
    }
  }

  #statusOf(workspace: string, job: JobInfo): 'working' | 'completed' | 'failed' | 'cancelled' {
    if (job.status === 'running') return 'working'
    if (job.status === 'cancelled' || this.#cancelled.has(taskIdOf(workspace, job.id))) return 'cancelled'
    return job.status === 'exited' ? 'completed' : 'failed'
  }
}

function noTask(taskId: unknown): RpcError {
  return new RpcError(INVALID_PARAMS, `There is no task ${JSON.stringify(taskId)}.`, { taskId })
}

/** `_meta` of a request about a task as the call inside gets it: whose it is stays; progress and the form of the result do not. */
function innerMeta({ _meta }: Params): Params {
  const { [STRUCTURED_KEY]: _structured, progressToken: _progress, ...meta } = isObject(_meta) ? _meta : {}
  return { _meta: meta }
}

function factsOf({ _meta }: Params): Params {
  const facts = isObject(_meta) ? _meta[FACTS_KEY] : undefined
  return isObject(facts) ? facts : {}
}

function textOf({ content }: Params): string {
  return (Array.isArray(content) ? content : []).map(block => String(block.text ?? '')).join('\n')
}
