import { expect, vi } from 'vitest'
import type { Environment } from '../../../src/backends/backend.ts'
import type { FaultRule } from '../../stand-ins/shared/faults.ts'
import { sh } from '../support.ts'
import type { FaultName } from './matrix.ts'
import { type FaultWorld, openIn, type Requests } from './place.ts'

/** Makes a fault happen to a workspace `id`; rejects with what the caller is told. */
export type Scenario = (world: FaultWorld, id: string) => Promise<unknown>

const SOON = { timeout: 30_000, interval: 100 }

/** Misbehaviour in answer to one purpose of requests. */
interface CallFault {
  purpose: keyof Requests
  rule: Omit<FaultRule, 'match'>
}

const HOLD = { latencyMs: 700 }

/** What a caller who is alone with the service meets, by fault. */
export const CALL_FAULTS = {
  latency: { purpose: 'look', rule: { latencyMs: 400, times: 99 } },
  unauthenticated: { purpose: 'create', rule: { status: 401, times: 2 } },
  forbidden: { purpose: 'create', rule: { status: 403 } },
  'not-found': { purpose: 'create', rule: { status: 404, message: "template 'x' not found" } },
  conflict: { purpose: 'create', rule: { status: 409 } },
  'rate-limit': { purpose: 'create', rule: { status: 429, retryAfter: 1, times: 2 } },
  'long-limit': { purpose: 'create', rule: { status: 429, retryAfter: 3_600, times: 9 } },
  busy: { purpose: 'look', rule: { status: 503, times: 2 } },
  broken: { purpose: 'create', rule: { status: 500, times: 99 } },
  reset: { purpose: 'create', rule: { reset: true } },
  'lost-answer': { purpose: 'create', rule: { loseAnswer: true } },
  'half-made': { purpose: 'inside', rule: { status: 500, times: 99 } },
  'cancelled-creation': { purpose: 'create', rule: HOLD },
  'cancelled-step': { purpose: 'inside', rule: HOLD },
  'failed-look-up': { purpose: 'look', rule: { status: 500, times: 99 } },
} satisfies Partial<Record<FaultName, CallFault>>

export type CallFaultName = keyof typeof CALL_FAULTS

/** Makes the service of a world misbehave so. */
export function addCallFault({ faults, requests }: FaultWorld, name: CallFaultName): void {
  const { purpose, rule } = CALL_FAULTS[name] as CallFault
  faults.add({ match: requests[purpose], ...rule })
}

/** One call that meets it. */
const meets =
  (name: CallFaultName): Scenario =>
  (world, id) => {
    addCallFault(world, name)
    return world.backend().provision(world.spec(id))
  }

/** The same for one that the caller gives up as soon as the fault has it. */
const givesUp =
  (name: CallFaultName): Scenario =>
  async (world, id) => {
    addCallFault(world, name)
    const controller = new AbortController()
    const made = world.backend().provision(world.spec(id), { signal: controller.signal })
    made.catch(() => {})
    await vi.waitFor(() => expect(world.faults.list()).toEqual([]), { ...SOON, interval: 10 })
    controller.abort()
    return made
  }

/** Two hosts that are shown different things agree at the next one, and neither's data is lost. */
async function lateLists(world: FaultWorld, id: string): Promise<void> {
  const write = async (text: string) => {
    const workspace = await openIn(world, id)
    if ((await sh(workspace, 'cat file 2>/dev/null || true')) === '') await sh(workspace, `echo ${text} > file`)
    await workspace.detach()
    return workspace.info.incarnation
  }
  world.faults.modes = { listLagMs: 60_000 }
  const [first, second] = [await write('first'), await write('second')]
  world.faults.modes = {}
  const third = await openIn(world, id)
  expect([third.info.incarnation, await sh(third, 'cat file')]).toEqual([first, 'first'])
  await third.detach()
  expect([...(await world.environments())].sort()).toEqual([...new Set([first, second])].sort())
}

async function lateWrite(world: FaultWorld, id: string): Promise<void> {
  world.faults.add({ match: 'POST /process.Process/StreamInput', status: 501, times: 99 })
  const workspace = await openIn(world, id, { options: { requestTimeoutMs: 3_000 } })
  for (let number = 0; number < 8; number += 1) {
    if (number === 4) world.faults.add({ match: 'POST /process.Process/SendInput', latencyMs: 5_000 })
    await sh(workspace, `echo ${number} >> seen`)
  }
  expect(await sh(workspace, 'cat seen')).toBe('0\n1\n2\n3\n4\n5\n6\n7')
  await workspace.detach()
  world.faults.clear()
}

/** Calls of a host that is alone with a service that misbehaves. */
export const CALLS = {
  latency: meets('latency'),
  unauthenticated: meets('unauthenticated'),
  forbidden: meets('forbidden'),
  'not-found': meets('not-found'),
  conflict: meets('conflict'),
  'rate-limit': meets('rate-limit'),
  'long-limit': meets('long-limit'),
  busy: meets('busy'),
  broken: meets('broken'),
  reset: meets('reset'),
  'lost-answer': meets('lost-answer'),
  'half-made': meets('half-made'),
  'cancelled-creation': givesUp('cancelled-creation'),
  'cancelled-step': givesUp('cancelled-step'),
  async 'failed-look-up'(world, id) {
    addCallFault(world, 'failed-look-up')
    await world.backend().find(id)
  },
  async duplicate(world, id): Promise<Environment> {
    world.faults.modes = { duplicateCreate: true }
    return world.backend().provision(world.spec(id))
  },
  'late-lists': lateLists,
  'late-write': lateWrite,
} satisfies Partial<Record<FaultName, Scenario>>
