/** What the operator decides about Pods and their volumes. Everything is optional; an agent may only name a profile. */
export interface KubernetesProfile {
  /** Default: `IfNotPresent`. */
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  /** Names of secrets of the namespace. */
  imagePullSecrets?: readonly string[]
  /** Variables of the container. */
  env?: Record<string, string>
  /** Requests and limits of the container, in Kubernetes' own words. */
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  /** Class of the volume; absent: the cluster's default. */
  storageClass?: string
  /** Size of the volume; default: `5Gi`. */
  storageSize?: string
  /** Default: `ReadWriteOnce`. */
  accessMode?: 'ReadWriteOnce' | 'ReadWriteOncePod' | 'ReadWriteMany'
  nodeSelector?: Record<string, string>
  tolerations?: readonly Toleration[]
  serviceAccount?: string
  /** Lets commands act as the service account; default: no. */
  mountServiceAccountToken?: boolean
  /** Such as `gvisor` or `kata`. */
  runtimeClass?: string
  priorityClass?: string
  /** Merged over what the Pod security profile `restricted` asks for; `null` takes a field out. */
  podSecurityContext?: Fields
  securityContext?: Fields
  /** Labels of Pod and volume, beside our own. */
  labels?: Record<string, string>
  annotations?: Record<string, string>
  /** Merged into the Pod; lists of named things by their names, `null` takes a field out. */
  podPatch?: Fields
  /** Has the last word on the Pod; for programs. */
  patchPod?: (pod: PodManifest) => PodManifest
}

/** Fields in Kubernetes' own words. */
type Fields = Record<string, unknown>

interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

/** A Pod as it is about to be made. */
export interface PodManifest {
  apiVersion: 'v1'
  kind: 'Pod'
  metadata: Fields
  spec: Fields
}

/** The operator's choices for this backend. */
export interface KubernetesSettings extends KubernetesProfile {
  /** Path of a kubeconfig file, or several as in `KUBECONFIG`; absent: the user's own, or the cluster that this process runs in. */
  kubeconfig?: string
  /** Uses the service account of the Pod that this process runs in, whatever kubeconfig there is. */
  inCluster?: boolean
  /** Default: the kubeconfig's current one. */
  context?: string
  /** Default: the context's, or `default`. It must be there. */
  namespace?: string
  /** Image of Pods; default: `DEFAULT_IMAGE`. */
  image?: string
  /** Profile of new workspaces; absent: the settings as they are. */
  profile?: string
  /** Profiles by name, each over the settings, key by key. */
  profiles?: Readonly<Record<string, KubernetesProfile>>
  /** How long a Pod may take to run, in ms; default: 120 s. */
  startTimeoutMs?: number
  /** A Pod that is not confirmed to be gone for this long after its time counts as one of a lost node, in ms; default: 30 s. */
  nodeLostMs?: number
  /** Replaces a Pod of a lost node, whose commands may still run there and write to the volume; default: no. */
  forceLostNode?: boolean
}

/** The image that the project's Dockerfile makes. */
export const DEFAULT_IMAGE = 'atelier-workspace:latest'
export const DEFAULT_STORAGE = '5Gi'
export const DEFAULT_START_MS = 120_000
export const DEFAULT_NODE_LOST_MS = 30_000
