import type { Backend, BackendName, ProbeStep } from '../backends/backend.ts'
import type { Config } from '../config.ts'
import { formatMs, withDeadline, withLimit, withSignal } from '../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'
import { namedId } from '../manager/ids.ts'
import type { Manager } from '../manager/manager.ts'
import { createServices } from '../services.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { failedTry } from './doctor-remedy.ts'

const CREATE_MS = 300_000
const STEP_MS = 60_000
/** A gateway that can't be reached is given up within this, with the reason, before the step's own time is over. */
const RECONNECT_MS = 20_000
const ROUNDS = 9
const SAID = 'atelier is here'

/** Hears of each step of a try. */
export interface Listener {
  begun(title: string): void
  done(step: ProbeStep): void
}

export interface Try {
  backend: Backend
  /** Of the workspace. */
  name: string
  /** Ends the try early; the workspace is removed all the same. */
  signal?: AbortSignal | undefined
}

/** Makes a workspace of its own, runs a command in it, measures the way there and removes it. */
export async function tryWorkspace(config: Config, { backend, name, signal }: Try, listener: Listener): Promise<void> {
  const scope = { user: config.user, agent: 'doctor', session: '' }
  // What is tried is asked first, and no other backend is.
  const limits = { ...config.limits, reconnectMs: Math.min(config.limits.reconnectMs, RECONNECT_MS) }
  await using services = await createServices({ ...config, limits, backend: backend.name, allowLocal: true })
  const { manager } = services
  const runner = new Steps(backend.name, listener)
  const making = manager.create(scope, { name, backend: backend.name })
  const made = await runner.step(
    { title: 'create', limitMs: CREATE_MS, signal },
    end => withSignal(making, end),
    (_, ms) => `a workspace in ${took(ms)}`,
  )
  if (made !== undefined) await useWorkspace(made.lease.workspace, runner, signal)
  const id = namedId(config.policy, backend.name, scope, name)
  // What was given up may come to be all the same.
  const late = await settled(making)
  late?.lease.release()
  if (late === undefined && !(await isLeft(backend, id, { name, runner }))) return
  const remove = (end: AbortSignal) => withSignal(destroy(manager, { scope, id, name }), end)
  await runner.step({ title: 'delete', limitMs: STEP_MS }, remove, (_, ms) => `in ${took(ms)}`)
}

/** What a creation gave, waited for within a step's time; `undefined` when it failed, which was told. */
async function settled<T>(making: Promise<T>): Promise<T | undefined> {
  return withDeadline(making, STEP_MS, 'Making').catch(() => undefined)
}

interface StepOptions {
  title: string
  limitMs?: number
  signal?: AbortSignal | undefined
}

/** Runs steps one after the other and tells of each. */
class Steps {
  readonly #backend: BackendName
  readonly #listener: Listener

  constructor(backend: BackendName, listener: Listener) {
    this.#backend = backend
    this.#listener = listener
  }

  /** `undefined`: it failed, which was told. */
  async step<T>(
    { title, limitMs = STEP_MS, signal }: StepOptions,
    run: (signal: AbortSignal) => Promise<T>,
    detail: (result: T, ms: number) => string,
  ): Promise<T | undefined> {
    const begun = performance.now()
    this.#listener.begun(title)
    try {
      const result = await withLimit(run, { ms: limitMs, late: () => late(title, this.#backend, limitMs), signal })
      this.#listener.done({ name: title, ok: true, detail: detail(result, performance.now() - begun) })
      return result
    } catch (error) {
      this.failed(title, error)
      return undefined
    }
  }

  failed(title: string, error: unknown): void {
    this.#listener.done(failedTry(title, error, this.#backend))
  }
}

function late(title: string, backend: string, limitMs: number): WorkspaceError {
  return new WorkspaceError('timeout', `The step "${title}" on ${backend} took longer than ${formatMs(limitMs)}.`)
}

async function useWorkspace(workspace: Workspace, runner: Steps, signal: AbortSignal | undefined): Promise<void> {
  const up = await runner.step(
    { title: 'gateway', signal },
    () => workspace.status(),
    ({ pid }, ms) => `up as process ${pid}, in ${took(ms)}`,
  )
  if (up === undefined) return
  await runner.step(
    { title: 'echo', signal },
    () => echo(workspace),
    (_, ms) => `a command answered in ${took(ms)}`,
  )
  await runner.step(
    { title: 'latency', signal },
    () => roundTrip(workspace),
    ms => `${ms.toFixed(1)} ms a round trip (median of ${ROUNDS})`,
  )
}

async function echo({ shell }: Workspace): Promise<void> {
  const { output } = await shell.run({ session: 'doctor', command: `echo ${SAID}` })
  if (output.head.trim() === SAID) return
  throw new WorkspaceError('internal', `echo answered ${JSON.stringify(output.head.slice(0, 200))}.`)
}

async function roundTrip(workspace: Workspace): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now()
    await workspace.status()
    times.push(performance.now() - begun)
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
}

interface Remains {
  name: string
  runner: Steps
}

/** Whether a creation that failed left something; that it can't be known is told. */
async function isLeft(backend: Backend, id: string, { name, runner }: Remains): Promise<boolean> {
  try {
    return (await backend.find(id)) !== undefined
  } catch (error) {
    runner.failed('delete', unremoved(error, name))
    return false
  }
}

async function destroy(
  manager: Manager,
  { scope, id, name }: { scope: Parameters<Manager['destroy']>[0]; id: string; name: string },
) {
  try {
    await manager.destroy(scope, id)
  } catch (error) {
    throw unremoved(error, name)
  }
}

function unremoved(error: unknown, name: string): WorkspaceError {
  const { code, message } = toWorkspaceError(error)
  return new WorkspaceError(code, `The workspace ${name} may be left: ${message}`, {
    hint: `When the backend answers again: atelier rm ${name}, and atelier prune for what was half made.`,
    cause: error,
  })
}

const took = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)
