import { afterAll, describe, it } from 'vitest'
import { requirements } from '../requirements/catalog.ts'
import { BACKENDS } from './backends.ts'
import type { ConnectOptions, TestClient, TransportName } from './client.ts'
import type { FoundProcess } from './processes.ts'
import { createSharedStage, createStage, type SharedStage, type Stage } from './stage.ts'
import type { World } from './world.ts'

/** What a requirement's test works with: its own world, and a client on a server in it. */
export interface Case {
  world: World
  transport: TransportName
  backend: string
  /** The workspace's directory on this host. It is seen inside under this path too. */
  dir: string
  /** Where commands start, as seen inside. */
  workdir: string
  /** Whether a process of the workspace runs, by its id as seen inside. */
  alive(pid: number): boolean
  /** Processes of the workspace; `pid` is this host's. */
  processes(): FoundProcess[]
  /** A client on a server of its own; the first call of `connect` with no options. */
  client: TestClient
  connect(options?: ConnectOptions): Promise<TestClient>
}

export interface Requirement {
  /** Where it comes from: a public report, or the part of the documents that promises it. */
  source: string
  /** The promise, in one sentence. */
  says: string
  /** Transports and backends that it does not apply to, each with the reason. */
  not?: Partial<Record<string, string>>
  /** The backends that it is about, where these are not all, and why the others are left out. */
  only?: { backends: readonly string[]; reason: string }
  /** Places where it is known to fail, each with the reason. A test that passes there fails the run: take the entry out. */
  fails?: Partial<Record<`${string}/${TransportName}`, string>>
}

type Body = (test: Case) => Promise<void>

interface Place {
  backend: string
  transport: TransportName
  body: Body
}

const LIMIT_MS = 120_000
/** Requirements whose tests leave nothing in an environment that a reset does not take away. */
const SHARING =
  /^(bash|edit|read|write|glob|grep|jobs|files|protocol|pty(?!\.(?:host|two|ends))|resources|skills|offload|nested|workspaces)\./
const TRANSPORTS: readonly TransportName[] = ['stdio', 'http']

/**
 * Backends by `ATELIER_TEST_BACKENDS`, absent: all. `local,docker` are taken whole; `e2b:bash+files` for the requirements whose ids
 * begin with these words.
 */
const wanted = process.env.ATELIER_TEST_BACKENDS?.split(',').map(entry => {
  const [backend, parts] = entry.split(':')
  return { backend, parts: parts?.split('+') }
})
/** Whether the requirement `id` is asked of a backend in this run. */
export const isWanted = (backend: string, id: string): boolean =>
  wanted === undefined || wanted.some(each => each.backend === backend && (each.parts?.includes(id.split('.')[0] ?? '') ?? true))

/** Runs `body` for the requirement `id` on every backend and transport that it applies to. */
export function verifies(id: keyof typeof requirements, body: Body): void {
  const requirement: Requirement = requirements[id]
  endStagesOnce()
  describe(id, () => {
    for (const backend of Object.keys(BACKENDS)) {
      if (!isWanted(backend, id)) continue
      for (const transport of TRANSPORTS) expand(id, requirement, { backend, transport, body })
    }
  })
}

function expand(id: string, requirement: Requirement, { backend, transport, body }: Place): void {
  const place = `${backend}/${transport}` as const
  const reason =
    requirement.not?.[transport] ??
    requirement.not?.[backend] ??
    requirement.not?.[place] ??
    (requirement.only?.backends.includes(backend) === false ? requirement.only.reason : undefined) ??
    BACKENDS[backend]?.unavailable()
  if (reason !== undefined) return void it(place, context => context.skip(reason))
  const run = () => onStage(id, { backend, transport, body })
  const known = requirement.fails?.[place]
  if (known !== undefined) it.fails(`${place} (known failure: ${known})`, run, LIMIT_MS)
  else it(place, run, LIMIT_MS)
}

/** Starts with a world of its own, or with one that the file's tests share where a start is dear. */
async function onStage(id: string, place: Place): Promise<void> {
  if (BACKENDS[place.backend]?.dear === true && SHARING.test(id)) return onSharedStage(place)
  const stage = createStage(place.backend, place.transport)
  try {
    await place.body(caseOn(stage, place, await stage.connect()))
    await stage.end()
  } finally {
    await stage.dispose()
  }
}

async function onSharedStage(place: Place): Promise<void> {
  const stage = await sharedStage(place)
  try {
    await place.body(caseOn(stage, place, await stage.borrow()))
  } finally {
    await stage.sweep().catch(error => {
      stages.delete(keyOf(place))
      return stage.dispose().finally(() => Promise.reject(error))
    })
  }
}

function caseOn({ world, backend: here, connect }: Stage, { backend, transport }: Place, client: TestClient): Case {
  const [dir, workdir] = [world.project, here.workdir(world)]
  const alive = (pid: number) => here.alive(world, pid)
  const processes = () => here.processes(world)
  return { world, transport, backend, dir, workdir, alive, processes, connect, client }
}

const stages = new Map<string, Promise<SharedStage>>()
const keyOf = ({ backend, transport }: Place) => `${backend}/${transport}`

function sharedStage(place: Place): Promise<SharedStage> {
  const stage = stages.get(keyOf(place)) ?? createSharedStage(place.backend, place.transport)
  stages.set(keyOf(place), stage)
  return stage
}

async function endStages(): Promise<void> {
  for (const opened of stages.values()) {
    // One that could not be made has failed its test.
    const stage = await opened.catch(() => undefined)
    await stage?.end().finally(stage.dispose)
  }
}

let ending = false

function endStagesOnce(): void {
  if (!ending) afterAll(endStages, LIMIT_MS)
  ending = true
}
