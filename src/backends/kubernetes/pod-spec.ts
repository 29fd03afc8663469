import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { merge } from './merge.ts'
import { HOME, INIT, RUNTIME_FOLDER } from './program.ts'
import { annotationsOf, type KubernetesRecord, labelsOf, MADE_BY, STARTED, useOf } from './record.ts'
import { DEFAULT_STORAGE, type KubernetesProfile, type PodManifest } from './settings.ts'

export const WORKDIR = '/workspace'
export const CONTAINER = 'workspace'
/** Names of the Pod's volumes, for those who patch it. */
const FILES = 'workspace'
const RUNTIME = 'atelier'

/** A gateway that was told to end, and its jobs, have this long. */
export const STOP_SECONDS = 5
const USER = 1000

/** As the Pod security profile `restricted` asks for. */
const RESTRICTED_POD = {
  ...{ runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER, fsGroupChangePolicy: 'OnRootMismatch' },
  seccompProfile: { type: 'RuntimeDefault' },
}
const RESTRICTED = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }

/** git refuses directories of other users unless told; which user owns the volume is not the agent's to settle. */
const GIT_TRUST = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' }

interface PodParts {
  name: string
  record: KubernetesRecord
  profile: KubernetesProfile
  image: string
  /** Which call makes it. */
  user: string
  /** Runs the gateway. */
  argv: readonly string[]
}

/** The Pod of a workspace: one container, the claim of its name at `/workspace`, and a folder of its own for the gateway. */
export function podManifest({ name, record, profile, image, user, argv }: PodParts): V1Pod {
  const pod = {
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: {
      name,
      labels: { ...profile.labels, ...labelsOf(record) },
      annotations: { ...profile.annotations, ...annotationsOf(record), [MADE_BY]: user },
    },
    spec: {
      ...scheduling(profile),
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: STOP_SECONDS,
      enableServiceLinks: false,
      automountServiceAccountToken: profile.mountServiceAccountToken ?? false,
      securityContext: merge(RESTRICTED_POD, profile.podSecurityContext ?? {}),
      imagePullSecrets: (profile.imagePullSecrets ?? []).map(secret => ({ name: secret })),
      containers: [container(profile, image, argv)],
      volumes: [
        { name: FILES, persistentVolumeClaim: { claimName: name } },
        { name: RUNTIME, emptyDir: {} },
      ],
    },
  }
  const patched = merge<PodManifest>(pod, profile.podPatch ?? {})
  return (profile.patchPod?.(patched) ?? patched) as unknown as V1Pod
}

function scheduling({ nodeSelector, tolerations, serviceAccount, runtimeClass, priorityClass }: KubernetesProfile): object {
  return {
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
    ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
  }
}

function container(profile: KubernetesProfile, image: string, argv: readonly string[]): object {
  return {
    name: CONTAINER,
    image,
    imagePullPolicy: profile.imagePullPolicy ?? 'IfNotPresent',
    command: ['sh', '-c', INIT, 'sh', ...argv],
    workingDir: WORKDIR,
    env: Object.entries({ HOME, ...GIT_TRUST, ...profile.env }).map(([name, value]) => ({ name, value })),
    resources: profile.resources ?? {},
    securityContext: merge(RESTRICTED, profile.securityContext ?? {}),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: FILES, mountPath: WORKDIR },
      { name: RUNTIME, mountPath: RUNTIME_FOLDER },
    ],
  }
}

interface ClaimParts {
  name: string
  record: KubernetesRecord
  profile: KubernetesProfile
  /** Which call makes it. */
  user: string
}

/** The volume claim of a workspace. */
export function claimManifest({ name, record, profile, user }: ClaimParts): V1PersistentVolumeClaim {
  const { labels, annotations, accessMode = 'ReadWriteOnce', storageSize = DEFAULT_STORAGE, storageClass } = profile
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      labels: { ...labels, ...labelsOf(record) },
      annotations: { ...annotations, ...annotationsOf(record), [MADE_BY]: user, ...useOf(user), [STARTED]: 'no' },
    },
    spec: {
      accessModes: [accessMode],
      resources: { requests: { storage: storageSize } },
      ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
    },
  }
}
