import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { throwIfAborted, withSignal } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type {
  Backend,
  CallOptions,
  Environment,
  EnvironmentInfo,
  EnvironmentSpec,
  OwnerFilter,
  ProvisionOptions,
} from '../backend.ts'
import { realDataDir } from '../host/folders.ts'
import { belongsTo } from '../owner-filter.ts'
import { abortable } from './abortable.ts'
import type { HostUser } from './container-options.ts'
import { containerName, type DockerContext } from './context.ts'
import { createContainer } from './create.ts'
import { findEndpoint, isLocal } from './endpoint.ts'
import { connectEngine } from './engine.ts'
import { createDockerEnvironment } from './environment.ts'
import { engineError, statusOf } from './errors.ts'
import { owners, readOwner, workspacesFolder } from './owner-file.ts'
import { volumeName } from './place.ts'
import { probeDocker } from './probe.ts'
import { createProfiles } from './profile.ts'
import { type DockerRecord, labelFilter, newRecord, recordOf } from './record.ts'
import { removeWorkspace } from './remove.ts'
import { reviveContainer } from './revive.ts'
import { DEFAULT_IMAGE, type DockerSettings } from './settings.ts'
import { type ContainerStatus, infoOf, inspectContainer } from './state.ts'
import { pruneContainers, sweepContainers } from './sweep.ts'

export interface DockerBackendOptions extends DockerSettings {
  /** Where the files of bound workspaces are kept. Made when first needed. */
  dataDir: string
  logger: Logger
  /** Who owns files here; default: the user of this process. */
  hostUser?: HostUser
}

/** As often may others be faster before a call gives up. */
const ATTEMPTS = 8

/**
 * Containers of a Docker engine. By default a workspace's files are in a directory of this host, mounted at `/workspace`, and its
 * container goes at close; on an engine elsewhere they are in a volume.
 */
export function createDockerBackend(options: DockerBackendOptions): Backend {
  let context: Promise<DockerContext> | undefined
  // Shared by all calls, each of which may stop waiting for it.
  const connect = ({ signal }: CallOptions = {}): Promise<DockerContext> => {
    context ??= makeContext(options).catch(error => {
      context = undefined
      throw error
    })
    return withSignal(context, signal)
  }
  let swept = false
  const sweepOnce = (here: DockerContext): void => {
    if (swept) return
    swept = true
    sweepContainers(here).catch(error => options.logger.debug({ reason: toWorkspaceError(error).message }, 'sweep failed'))
  }
  return {
    name: 'docker',
    async provision(spec, call) {
      throwIfAborted(call?.signal)
      const here = await connect(call)
      const environment = await provision(here, spec, call)
      sweepOnce(here)
      return environment
    },
    async find(id, call) {
      return (await neverUsed(options)) ? undefined : lookUp(await connect(call), id, call)
    },
    async *list(filter, call = {}) {
      if (!(await neverUsed(options))) yield* enumerate(await connect(call), { ...call, filter })
    },
    probe: call => probeDocker(connect, { logger: options.logger, ...call }),
    async *prune({ dryRun, signal }) {
      if (!(await neverUsed(options))) yield* pruneContainers(await connect({ signal }), { dryRun, signal })
    },
    async remove({ id }, call) {
      const here = await connect(call)
      const known = await findKnown(here, id, call)
      if (known !== undefined) await removeWorkspace(here, known.record, call)
    },
  }
}

/** Whether this data directory has no container on an engine of this host, which can be told without asking the engine. */
async function neverUsed(options: DockerBackendOptions): Promise<boolean> {
  if (!isLocal(findEndpoint(options))) return false
  return !existsSync(workspacesFolder(await realDataDir(resolve(options.dataDir))))
}

async function makeContext(options: DockerBackendOptions): Promise<DockerContext> {
  const { image = DEFAULT_IMAGE, logger } = options
  const profiles = createProfiles(options.profiles, options.profile)
  const [engine, dataDir] = await Promise.all([connectEngine(options), realDataDir(resolve(options.dataDir))])
  const hostUser = options.hostUser ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  return { engine, dataDir, scope: engine.local ? dataDir : '', image, profiles, hostUser, logger }
}

async function provision(context: DockerContext, spec: EnvironmentSpec, call: ProvisionOptions = {}): Promise<Environment> {
  const { boot } = spec
  if (boot === undefined) throw new WorkspaceError('internal', `Workspace ${spec.name}: no gateway was given to put in.`)
  const name = containerName(context, spec.id)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    throwIfAborted(call.signal)
    const found = await inspectContainer(context.engine.docker, name, call)
    const record = found === undefined ? await recordFor(context, spec) : ownRecord(context, spec, found)
    const options = { ...call, boot, record }
    const ready = await (found === undefined
      ? createContainer(context, record, options)
      : reviveContainer(context, found, options))
    if (ready === undefined) continue
    return createDockerEnvironment(context, ready.record, infoOf(ready.record, { status: 'running', name, ...ready }))
  }
  throw new WorkspaceError('unavailable', `Container ${name} is made and removed by others again and again.`)
}

/** The record of the container that has the name; refuses one that is not this workspace's. */
function ownRecord(
  context: DockerContext,
  spec: EnvironmentSpec,
  found: { Name: string; Config: { Labels: Record<string, string> } },
): DockerRecord {
  const record = recordOf(found.Config.Labels, context.scope)
  if (record?.id === spec.id && record.owner.user === spec.owner.user) return record
  throw new WorkspaceError('already_exists', `The container ${found.Name.slice(1)} is there and is not this workspace's.`, {
    hint: 'Look at it with docker inspect, and rename or remove it.',
  })
}

/** What is known of a workspace without a container, else what `spec` asks for. */
async function recordFor(context: DockerContext, spec: EnvironmentSpec): Promise<DockerRecord> {
  const { engine, profiles, image } = context
  const kept = await keptRecord(context, spec.id)
  if (kept !== undefined) return kept
  if (spec.profile !== undefined) profiles.check(spec.profile)
  const profile = spec.profile ?? profiles.fallback
  const ephemeral = profiles.get(profile).ephemeral === true
  const keep = spec.directory !== undefined ? 'own' : ephemeral ? 'ephemeral' : engine.local ? 'bound' : 'volume'
  if (keep === 'own' && !engine.local) {
    throw new WorkspaceError('unsupported', `The engine at ${engine.address} can't mount ${spec.directory} of this host.`, {
      hint: 'Use a workspace by name (workspace_create), or an engine on this host.',
    })
  }
  return newRecord(spec, { image: spec.image ?? image, profile, keep })
}

async function keptRecord(
  { engine, dataDir, scope }: DockerContext,
  id: string,
  { signal }: CallOptions = {},
): Promise<DockerRecord | undefined> {
  if (engine.local) return readOwner(dataDir, id)
  try {
    const { Labels } = await engine.docker.getVolume(volumeName(id)).inspect(abortable(signal))
    return recordOf(Labels, scope)
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw engineError(error, `Volume ${volumeName(id)}`)
  }
}

/** The record of a workspace, by its container or without it, with what has the container's name. */
async function findKnown(context: DockerContext, id: string, call: CallOptions = {}) {
  const found = await inspectContainer(context.engine.docker, containerName(context, id), call)
  const labelled = recordOf(found?.Config.Labels, context.scope)
  const record = labelled ?? (await keptRecord(context, id, call))
  return record?.id === id ? { record, found, isOurs: labelled !== undefined } : undefined
}

async function lookUp(context: DockerContext, id: string, call?: CallOptions): Promise<EnvironmentInfo | undefined> {
  const known = await findKnown(context, id, call)
  if (known === undefined) return undefined
  const { record, found, isOurs } = known
  const status = isOurs ? (found?.State.Status as ContainerStatus) : undefined
  return infoOf(record, { status, name: containerName(context, id), ...(found === undefined ? {} : { id: found.Id }) })
}

interface Listing extends CallOptions {
  filter: OwnerFilter
}

async function* enumerate(context: DockerContext, listing: Listing): AsyncIterable<EnvironmentInfo> {
  const { filter, signal } = listing
  const { engine, scope, dataDir, logger } = context
  const seen = new Set<string>()
  const containers = await engine.docker
    .listContainers({ all: true, filters: labelFilter(scope, { owner: filter }), ...abortable(signal) })
    .catch(error => {
      throw engineError(error, 'Listing containers')
    })
  for (const { Labels, State, Id } of containers) {
    const record = recordOf(Labels, scope)
    if (record === undefined) continue
    seen.add(record.id)
    yield infoOf(record, { status: State as ContainerStatus, id: Id, name: containerName(context, record.id) })
  }
  const kept = engine.local ? owners(dataDir, logger) : volumes(context, listing)
  for await (const record of kept) {
    if (seen.has(record.id)) continue
    const info = infoOf(record, { status: undefined, name: containerName(context, record.id) })
    if (belongsTo(info, filter)) yield info
  }
}

async function* volumes({ engine, scope }: DockerContext, { filter, signal }: Listing): AsyncIterable<DockerRecord> {
  const { Volumes } = await engine.docker
    .listVolumes({ filters: labelFilter(scope, { owner: filter }) as never, ...abortable(signal) })
    .catch(error => {
      throw engineError(error, 'Listing volumes')
    })
  for (const { Labels } of Volumes) {
    const record = recordOf(Labels, scope)
    if (record !== undefined) yield record
  }
}
