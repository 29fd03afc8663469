import { z } from 'zod'
import type { KubernetesSettings } from '../../backends/kubernetes/settings.ts'
import { duration } from '../values.ts'

const text = z.string().min(1)
const texts = z.record(text, z.string())
/** In Kubernetes' own words: the cluster checks them. */
const fields = z.record(text, z.unknown())
const limitMs = duration(1_000).schema

const PROFILE = z
  .strictObject({
    imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
    imagePullSecrets: z.array(text),
    env: texts,
    resources: z.strictObject({ requests: texts, limits: texts }).partial(),
    storageClass: text,
    storageSize: text,
    accessMode: z.enum(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany']),
    nodeSelector: texts,
    tolerations: z.array(fields),
    serviceAccount: text,
    mountServiceAccountToken: z.boolean(),
    runtimeClass: text,
    priorityClass: text,
    podSecurityContext: fields,
    securityContext: fields,
    labels: texts,
    annotations: texts,
    podPatch: fields,
  })
  .partial()

/** The key `kubernetes` of the configuration. */
export const KUBERNETES = PROFILE.extend({
  kubeconfig: text,
  inCluster: z.boolean(),
  context: text,
  namespace: text,
  image: text,
  profile: text,
  profiles: z.record(text, PROFILE),
  startTimeoutMs: limitMs,
  nodeLostMs: limitMs,
  forceLostNode: z.boolean(),
}).partial() as unknown as z.ZodType<KubernetesSettings>
