import { join, resolve } from 'node:path'
import type { V1Pod } from '@kubernetes/client-node'
import { throwIfAborted } from '../../lib/deadline.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { Backend, CallOptions, EnvironmentInfo, OwnerFilter } from '../backend.ts'
import { belongsTo } from '../owner-filter.ts'
import { readClaim } from './claims.ts'
import { Cluster } from './cluster.ts'
import { choiceOf, type KubernetesContext } from './context.ts'
import { createPodEnvironment } from './environment.ts'
import { listClaims, listPods } from './list.ts'
import { resourceName } from './names.ts'
import { imageOf, infoOf } from './pod-state.ts'
import { readPod } from './pods.ts'
import { probeKubernetes } from './probe.ts'
import { profileOf } from './profile.ts'
import { provisionPod } from './provision.ts'
import { type KubernetesRecord, recordOf } from './record.ts'
import { removeWorkspace } from './remove.ts'
import type { KubernetesSettings } from './settings.ts'
import { pruneCluster, sweepCluster } from './sweep.ts'

export interface KubernetesBackendOptions extends KubernetesSettings {
  /** Where a node for images without one is kept. */
  dataDir: string
  logger: Logger
}

/**
 * Pods of a Kubernetes cluster. A workspace's files are in a volume claim, mounted at `/workspace`; its Pod goes at close and is made
 * again on the same claim. What the cluster holds is the only index: hosts that share a namespace share its workspaces.
 */
export function createKubernetesBackend({ dataDir, logger, ...settings }: KubernetesBackendOptions): Backend {
  let context: Promise<KubernetesContext> | undefined
  const connect = (): Promise<KubernetesContext> => {
    context ??= makeContext(settings, { cacheFolder: join(resolve(dataDir), 'cache'), logger }).catch(error => {
      context = undefined
      throw error
    })
    return context
  }
  let swept = false
  const sweepOnce = (here: KubernetesContext): void => {
    if (swept) return
    swept = true
    sweepCluster(here).catch(error => logger.debug({ reason: toWorkspaceError(error).message }, 'sweep failed'))
  }
  return {
    name: 'kubernetes',
    async provision(spec, call) {
      throwIfAborted(call?.signal)
      const here = await connect()
      const { record, ...ready } = await provisionPod(here, spec, call)
      sweepOnce(here)
      const at = { name: resourceName(record.id), namespace: here.cluster.namespace }
      return createPodEnvironment(here, infoOf(record, { ...at, ...ready }))
    },
    find: async (id, call) => lookUp(await connect(), id, call),
    async *list(filter, call) {
      yield* enumerate(await connect(), filter, call)
    },
    probe: call => probeKubernetes(connect, call),
    async *prune(options) {
      yield* pruneCluster(await connect(), options)
    },
    remove: async (info, call) => removeWorkspace(await connect(), info, call),
  }
}

async function makeContext(
  settings: KubernetesSettings,
  parts: Pick<KubernetesContext, 'cacheFolder' | 'logger'>,
): Promise<KubernetesContext> {
  profileOf(settings)
  return { cluster: await Cluster.connect(settings), settings, ...parts }
}

async function lookUp(context: KubernetesContext, id: string, call?: CallOptions): Promise<EnvironmentInfo | undefined> {
  const name = resourceName(id)
  const [claim, pod] = await Promise.all([readClaim(context.cluster, name, call), readPod(context.cluster, name, call)])
  const record = recordOf(claim?.metadata)
  return record?.id === id ? infoFor(context, record, pod) : undefined
}

async function* enumerate(context: KubernetesContext, filter: OwnerFilter, call?: CallOptions): AsyncIterable<EnvironmentInfo> {
  const pods = new Map<string, V1Pod>()
  for await (const pod of listPods(context.cluster, filter, call)) pods.set(pod.metadata?.name ?? '', pod)
  for await (const { metadata } of listClaims(context.cluster, filter, call)) {
    const record = recordOf(metadata)
    if (record === undefined || metadata?.deletionTimestamp !== undefined) continue
    const info = infoFor(context, record, pods.get(metadata?.name ?? ''))
    // Labels may stand for what they can't hold.
    if (belongsTo(info, filter)) yield info
  }
}

function infoFor(context: KubernetesContext, record: KubernetesRecord, pod: V1Pod | undefined): EnvironmentInfo {
  const own = pod !== undefined && recordOf(pod.metadata)?.id === record.id ? pod : undefined
  const image = (own && imageOf(own)) ?? choiceOf(context, record).image
  return infoOf(record, { name: resourceName(record.id), namespace: context.cluster.namespace, image, pod: own })
}
