import type { BackendName, ProbeStep } from '../backends/backend.ts'
import type { Config } from '../config.ts'
import { withDeadline } from '../lib/deadline.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { createServices } from '../services.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { failedStep } from './failed-step.ts'

const CREATE_MS = 300_000
const STEP_MS = 60_000
const ROUNDS = 9
const SAID = 'atelier is here'

/** Makes a workspace of its own, runs a command in it, measures the way there and removes it; each step is told when it is done. */
export async function tryWorkspace(
  config: Config,
  { backend, name }: { backend: BackendName; name: string },
  tell: (step: ProbeStep) => void,
): Promise<void> {
  const scope = { user: config.user, agent: 'doctor', session: '' }
  await using services = await createServices(config)
  const { manager } = services
  const step = async <T>(title: string, limitMs: number, run: () => Promise<T>, detail: (result: T, ms: number) => string) => {
    const begun = performance.now()
    try {
      const result = await withDeadline(run(), limitMs, `The step "${title}" on ${backend}`)
      tell({ name: title, ok: true, detail: detail(result, performance.now() - begun) })
      return result
    } catch (error) {
      tell(failedStep(title, error))
      return undefined
    }
  }
  const made = await step(
    'create',
    CREATE_MS,
    () => manager.create(scope, { name, backend }),
    (_, ms) => `a workspace in ${took(ms)}`,
  )
  if (made !== undefined) {
    using lease = made.lease
    await useWorkspace(lease.workspace, step)
  }
  const left = await findQuietly(() => manager.find(scope, name))
  if (made === undefined && left === undefined) return
  await step(
    'delete',
    STEP_MS,
    () => manager.destroy(scope, left ?? made?.lease.workspace.id ?? name),
    (_, ms) => `in ${took(ms)}`,
  )
}

type Step = <T>(
  title: string,
  limitMs: number,
  run: () => Promise<T>,
  detail: (result: T, ms: number) => string,
) => Promise<T | undefined>

async function useWorkspace(workspace: Workspace, step: Step): Promise<void> {
  const up = await step(
    'gateway',
    STEP_MS,
    () => workspace.status(),
    ({ pid }, ms) => `up as process ${pid}, in ${took(ms)}`,
  )
  if (up === undefined) return
  await step(
    'echo',
    STEP_MS,
    () => echo(workspace),
    (_, ms) => `a command answered in ${took(ms)}`,
  )
  await step(
    'latency',
    STEP_MS,
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

async function findQuietly(find: () => Promise<{ id: string }>): Promise<string | undefined> {
  try {
    return (await find()).id
  } catch {
    // A workspace that could not be made is most often not there; what is wrong has been told.
    return undefined
  }
}

const took = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)
