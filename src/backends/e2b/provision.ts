import { randomBytes } from 'node:crypto'
import { sleep, throwIfAborted } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Environment, EnvironmentSpec } from '../backend.ts'
import { connectSandbox, createSandbox, madeBy, removeSandboxes } from './create.ts'
import { createE2bEnvironment } from './environment.ts'
import { e2bError } from './errors.ts'
import { runCommand } from './exec.ts'
import { isEmpty, settleLosers } from './losers.ts'
import { infoOf, inOrder, type Listed, newRecord } from './record.ts'
import type { Sandbox } from './sdk.ts'
import { type E2bContext, listSandboxes } from './service.ts'
import { DEFAULT_TEMPLATE, DEFAULT_WORKDIR } from './settings.ts'

/** As often may others be faster before a call gives up. */
const ATTEMPTS = 6
const PAUSE_MS = 250
/** A sandbox is new for so many times the settling time, and others are looked at so often meanwhile. */
const YOUNG_SETTLES = 5
const LOOKS = 5

/** Attaches to the sandbox of a workspace, or makes one. */
export async function provision(context: E2bContext, spec: EnvironmentSpec, options: CallOptions = {}): Promise<Environment> {
  if (spec.profile !== undefined) {
    throw new WorkspaceError('unsupported', `Backend e2b has no profiles: "${spec.profile}" means nothing to it.`, {
      hint: 'Leave profile out; the operator chooses what sandboxes may do in the settings of e2b.',
    })
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    throwIfAborted(options.signal)
    if (attempt > 0) await sleep(PAUSE_MS * attempt, options)
    const [first, ...losers] = await decided(context, spec, options)
    const environment = first === undefined ? await make(context, spec, options) : await attach(context, first, options)
    if (environment === undefined) continue
    await settleLosers(context, losers)
    return environment
  }
  throw new WorkspaceError('unavailable', `Sandboxes of workspace ${spec.name} are made and removed by others again and again.`)
}

/** The sandboxes of a workspace, the one that counts first. */
async function candidates(context: E2bContext, { id, owner }: EnvironmentSpec, options: CallOptions): Promise<Listed[]> {
  const listed = await listSandboxes(context, { id }, options)
  return listed.filter(({ record }) => record.owner.user === owner.user).sort(inOrder)
}

/** The candidates, once makers that came at the same time had the time to see each other. */
async function decided(context: E2bContext, spec: EnvironmentSpec, options: CallOptions): Promise<Listed[]> {
  const isYoung = ({ startedAt }: Listed): boolean => Date.now() - startedAt.getTime() < YOUNG_SETTLES * context.settleMs
  let listed = await candidates(context, spec, options)
  for (let look = 0; look < LOOKS && listed.length > 1 && listed.some(isYoung); look++) {
    await sleep(context.settleMs, options)
    listed = await candidates(context, spec, options)
  }
  return listed
}

/** `undefined`: it went meanwhile. */
async function attach(context: E2bContext, found: Listed, options: CallOptions): Promise<Environment | undefined> {
  try {
    const sandbox = await connectSandbox(context, found.sandboxId, options)
    await Promise.all([
      makeWorkdir(context, sandbox, { workdir: found.record.workdir, ...options }),
      checkTimeout(context, found),
    ])
    const ended = found.state === 'paused' ? { ended: 'it was paused' } : {}
    return createE2bEnvironment(context, sandbox, infoOf({ ...found, state: 'running' }, ended))
  } catch (error) {
    const failure = e2bError(error, `Sandbox ${found.sandboxId}`, options)
    if (failure.code === 'environment_gone') return undefined
    throw failure
  }
}

/** Makes a sandbox and hands it out once nobody else's came first. What fails on the way takes it back. `undefined`: others did. */
async function make(context: E2bContext, spec: EnvironmentSpec, options: CallOptions): Promise<Environment | undefined> {
  const { workdir = DEFAULT_WORKDIR, template = DEFAULT_TEMPLATE } = context.settings
  const choice = { maker: randomBytes(8).toString('hex'), workdir, template: spec.image ?? template }
  const record = newRecord(spec, choice)
  const sandbox = await createSandbox(context, record, options)
  const own: Listed = { sandboxId: sandbox.sandboxId, state: 'running', startedAt: new Date(), record }
  try {
    await Promise.all([makeWorkdir(context, sandbox, { workdir, ...options }), sleep(context.settleMs, options)])
    const listed = await candidates(context, spec, options)
    const seen = listed.find(({ sandboxId }) => sandboxId === own.sandboxId) ?? own
    const others = listed.filter(other => other !== seen)
    // A second one of this very call gives way to the one that was answered.
    const rivals = others.filter(other => other.record.maker !== record.maker)
    if (rivals.some(rival => comesBefore(rival, seen, context.settleMs))) {
      await takeBack(context, own)
      return undefined
    }
    await settleLosers(context, others)
    return createE2bEnvironment(context, sandbox, infoOf(own))
  } catch (error) {
    await takeBack(context, own)
    throw e2bError(error, `Sandbox ${own.sandboxId}`, options)
  }
}

/**
 * Whether a new sandbox gives way to another one: to the older by its record, but where one started so much earlier that its maker did
 * not see the other, to that one. A start that takes long, or a clock that is behind, takes nobody's place.
 */
function comesBefore(other: Listed, own: Listed, settleMs: number): boolean {
  if (other.state === 'paused') return true
  const apart = own.startedAt.getTime() - other.startedAt.getTime()
  return Math.abs(apart) >= settleMs ? apart > 0 : inOrder(other, own) < 0
}

/** Removes what this call made, unless somebody came to use it; a second one that a lost answer left too. */
async function takeBack(context: E2bContext, own: Listed): Promise<void> {
  const { record, sandboxId } = own
  const made = await madeBy(context, record).catch(() => [own])
  for (const each of made.length === 0 ? [own] : made) {
    const unused = await isEmpty(context, { ...each, state: 'running' }).catch(() => true)
    if (unused) await removeSandboxes(context, [each])
    else context.logger.warn({ sandbox: sandboxId }, 'a sandbox that this call made is in use by another host: it was left')
  }
}

async function makeWorkdir(
  { settings }: E2bContext,
  sandbox: Sandbox,
  { workdir, signal }: CallOptions & { workdir: string },
): Promise<void> {
  const { user } = settings
  const { exitCode, stderr } = await runCommand(sandbox, ['mkdir', '-p', workdir], { signal, user }).catch(error => {
    throw refusedUser(error, user) ?? error
  })
  if (exitCode === 0) return
  throw new WorkspaceError(
    'precondition_failed',
    `The working directory can't be made: ${Buffer.from(stderr).toString().trim()}`,
    {
      hint: 'Name another one in e2b.workdir, or a user who may write there in e2b.user.',
    },
  )
}

/** The service has just taken the key: what it refuses inside a sandbox is the user. */
function refusedUser(error: unknown, user: string | undefined): WorkspaceError | undefined {
  if (user === undefined || e2bError(error, '').code !== 'unauthenticated') return undefined
  return new WorkspaceError('precondition_failed', `The sandbox refuses the user ${JSON.stringify(user)}.`, {
    hint: 'Name a user of the template in e2b.user, or leave it out.',
    cause: error,
  })
}

/** A sandbox that its time-out would kill is not one of ours any more: that is said, and its files are not safe. */
async function checkTimeout({ sandboxes, logger }: E2bContext, { sandboxId, record }: Listed): Promise<void> {
  try {
    const { lifecycle } = await sandboxes.getInfo(sandboxId)
    if (lifecycle?.onTimeout !== 'kill') return
    logger.warn(
      { sandbox: sandboxId, workspace: record.id },
      `sandbox ${sandboxId} is killed, not paused, when its time is over: its files are lost unless a host closes it before`,
    )
  } catch (error) {
    logger.debug({ reason: toWorkspaceError(error).message }, 'not known what the time-out does')
  }
}
