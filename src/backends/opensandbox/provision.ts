import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { sleep, throwIfAborted } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, Environment, EnvironmentSpec } from '../backend.ts'
import { createSandbox, removeSandboxes, waitForStart } from './create.ts'
import { createOpenSandboxEnvironment } from './environment.ts'
import { openSandboxError } from './errors.ts'
import { runCommand } from './exec.ts'
import { settleLosers } from './losers.ts'
import { marks, newRecord } from './record.ts'
import { resume } from './resume.ts'
import type { ExecdPlace } from './sdk.ts'
import { ask, inspect, listSandboxes, type OpenSandboxContext } from './service.ts'
import { DEFAULT_IMAGE, DEFAULT_TTL_MS, DEFAULT_WORKDIR } from './settings.ts'
import { infoOf, inOrder, type Listed } from './state.ts'
import { takeBack } from './take-back.ts'

/** As often may others be faster before a call gives up. */
const ATTEMPTS = 12
/** Between two looks at what another host is making. */
const POLL_MS = 250

/** A new sandbox that this call made, not handed out yet. */
interface Own {
  listed: Listed
  place: ExecdPlace
}

/** Attaches to the sandbox of a workspace, or makes one. */
export async function provision(
  context: OpenSandboxContext,
  spec: EnvironmentSpec,
  options: CallOptions = {},
): Promise<Environment> {
  checkSpec(spec)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    throwIfAborted(options.signal)
    const [first, ...others] = await candidates(context, spec, options)
    const failed = first?.phase === 'failed' ? first : undefined
    if (failed !== undefined) reportFailed(context, failed)
    const environment =
      first === undefined || failed !== undefined
        ? await make(context, spec, { ...options, failed })
        : await attach(context, first, options)
    if (environment === undefined) continue
    await settleLosers(context, failed === undefined ? others : [])
    return environment
  }
  throw new WorkspaceError('unavailable', `Sandboxes of workspace ${spec.name} are made and removed by others again and again.`)
}

/** Refuses what a sandbox can't be. */
function checkSpec({ profile }: EnvironmentSpec): void {
  if (profile === undefined) return
  throw new WorkspaceError(
    'unsupported',
    `Backend opensandbox has no profiles: ${JSON.stringify(profile)} means nothing to it.`,
    {
      hint: 'Leave profile out; the operator decides about sandboxes by the settings opensandbox.*.',
    },
  )
}

/** The sandboxes of a workspace, the one that counts first. */
async function candidates(context: OpenSandboxContext, { id, owner }: EnvironmentSpec, options: CallOptions): Promise<Listed[]> {
  const listed = await listSandboxes(context, { id }, options)
  return listed.filter(({ record }) => record.owner.user === owner.user).sort(inOrder)
}

/** `undefined`: it went meanwhile, or another one came first. */
async function attach(context: OpenSandboxContext, found: Listed, options: CallOptions): Promise<Environment | undefined> {
  try {
    if (found.record.handedOut === undefined && !(await isHandedOut(context, found, options))) return undefined
    const place = await resume(context, found, options)
    await Promise.all([makeWorkdir(context, place, found.record.workdir, options), mark(context, found.sandboxId, options)])
    const ended = found.phase === 'paused' ? { ended: 'it was paused' } : {}
    return createOpenSandboxEnvironment(context, infoOf({ ...found, phase: 'running' }, ended))
  } catch (error) {
    const failure = openSandboxError(error, `Sandbox ${found.sandboxId}`, options)
    if (failure.code === 'environment_gone' || failure.code === 'environment_lost') return undefined
    throw failure
  }
}

/** Waits while its maker has a sandbox in hand; one whose maker is gone is taken over. `false`: look again. */
async function isHandedOut(context: OpenSandboxContext, { sandboxId }: Listed, options: CallOptions): Promise<boolean> {
  for (let running: number | undefined; ; ) {
    const found = await inspect(context, sandboxId, options)
    if (found === undefined || found.phase === 'failed') return false
    if (found.record.handedOut !== undefined) return true
    if (found.phase === 'running') running ??= performance.now()
    if (running !== undefined && performance.now() - running > context.leftMs) {
      await mark(context, sandboxId, { ...options, handedOut: true })
      return false
    }
    await sleep(POLL_MS, options)
  }
}

/** Makes a sandbox and hands it out once nobody else's came first. What fails on the way takes it back. `undefined`: others did. */
async function make(
  context: OpenSandboxContext,
  spec: EnvironmentSpec,
  options: CallOptions & { failed: Listed | undefined },
): Promise<Environment | undefined> {
  const { workdir = DEFAULT_WORKDIR, image = DEFAULT_IMAGE, ttlMs = DEFAULT_TTL_MS } = context.settings
  const choice = { maker: randomBytes(8).toString('hex'), workdir, image: spec.image ?? image, ttlMs: spec.ttlMs ?? ttlMs }
  const record = newRecord(spec, choice)
  const sandboxId = await createSandbox(context, record, options)
  const own: Own = { listed: { sandboxId, phase: 'running', record, createdAt: record.created }, place: { url: '', headers: {} } }
  try {
    own.place = await waitForStart(context, sandboxId, options)
    await Promise.all([makeWorkdir(context, own.place, workdir, options), sleep(context.settleMs, { signal: options.signal })])
    const others = await handOut(context, own, { spec, options })
    if (others === undefined) {
      await takeBack(context, own.listed)
      return undefined
    }
    await settleLosers(context, others)
    const ended = options.failed === undefined ? {} : { ended: `it failed: ${options.failed.reason}` }
    return createOpenSandboxEnvironment(context, infoOf(own.listed, ended))
  } catch (error) {
    await takeBack(context, own.listed)
    throw openSandboxError(error, `Sandbox ${sandboxId}`, options)
  }
}

/**
 * Marks a sandbox as handed out when it comes first, before and after; gives the others, `undefined` when it does not. What the same
 * request made beside it goes.
 */
async function handOut(
  context: OpenSandboxContext,
  { listed }: Own,
  { spec, options }: { spec: EnvironmentSpec; options: CallOptions },
): Promise<Listed[] | undefined> {
  const look = async (own: Listed): Promise<Listed[] | undefined> => {
    const rest = (await candidates(context, spec, options)).filter(({ sandboxId }) => sandboxId !== own.sandboxId)
    const isTwin = ({ record }: Listed): boolean => record.maker === own.record.maker
    await removeSandboxes(
      context,
      rest.filter(isTwin).map(({ sandboxId }) => sandboxId),
    )
    const others = rest.filter(each => !isTwin(each))
    return [own, ...others].sort(inOrder)[0] === own ? others : undefined
  }
  if ((await look(listed)) === undefined) return undefined
  await mark(context, listed.sandboxId, { ...options, handedOut: true })
  return look({ ...listed, record: { ...listed.record, handedOut: Date.now() } })
}

function mark(context: OpenSandboxContext, id: string, options: CallOptions & { handedOut?: boolean }): Promise<unknown> {
  const patch = marks(Date.now(), options)
  return ask(context, `Sandbox ${id}`, api => api.patchSandboxMetadata(id, patch), options)
}

async function makeWorkdir(
  context: OpenSandboxContext,
  place: ExecdPlace,
  workdir: string,
  { signal }: CallOptions,
): Promise<void> {
  const { exitCode, stderr } = await runCommand(context, place, ['mkdir', '-p', workdir], { signal, timeoutMs: 60_000 })
  if (exitCode === 0) return
  throw new WorkspaceError(
    'precondition_failed',
    `The working directory can't be made: ${Buffer.from(stderr).toString().trim()}`,
    { hint: 'Name another one in opensandbox.workdir.' },
  )
}

function reportFailed({ logger, reported }: OpenSandboxContext, { sandboxId, record, reason }: Listed): void {
  if (reported.has(sandboxId)) return
  reported.add(sandboxId)
  logger.warn(
    { sandbox: sandboxId, workspace: record.id },
    `sandbox ${sandboxId} of workspace "${record.name}" has failed (${reason}); it is left as it is, another one is made`,
  )
}
