import type { V1ObjectMeta } from '@kubernetes/client-node'
import { WorkspaceError } from '../../lib/errors.ts'
import type { EnvironmentSpec, Owner } from '../backend.ts'
import { labelValue } from './names.ts'

/** What a workspace is. It stands in the annotations of its volume claim and of its Pod. */
export interface KubernetesRecord {
  id: string
  name: string
  owner: Owner
  /** ISO 8601. */
  created: string
  ttlMs?: number
  /** Chosen by the call that made it; absent: as the settings have it at each start. */
  image?: string
  profile?: string
  env?: Record<string, string>
}

export const MANAGED = { 'app.kubernetes.io/managed-by': 'atelier' }
const RECORD = 'atelier.record'
/** Who used the claim last: a call that takes back what it made leaves alone what others came to use. */
export const USED_BY = 'atelier.used-by'
/** When that was, by that host's clock: ISO 8601. */
export const USED_AT = 'atelier.used-at'
/** Which call made it. */
export const MADE_BY = 'atelier.made-by'
/** On a claim: whether a gateway ever ran on it (`yes`, `no`). */
export const STARTED = 'atelier.started'

/** A record for what `spec` asks to be made. */
export function newRecord({ id, name, owner, ttlMs, image, profile, env }: EnvironmentSpec): KubernetesRecord {
  return {
    ...{ id, name, owner, created: new Date().toISOString() },
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(image === undefined ? {} : { image }),
    ...(profile === undefined ? {} : { profile }),
    ...(env === undefined ? {} : { env }),
  }
}

/** Labels to find it by. */
export function labelsOf({ id, owner, ttlMs }: Pick<KubernetesRecord, 'id' | 'owner' | 'ttlMs'>): Record<string, string> {
  return {
    ...MANAGED,
    'atelier.workspace': labelValue(id),
    ...ownerLabels(owner),
    ...(ttlMs === undefined ? {} : { 'atelier.ttl-ms': String(ttlMs) }),
  }
}

/** The whole record, as an annotation. */
export function annotationsOf(record: KubernetesRecord): Record<string, string> {
  return { [RECORD]: JSON.stringify(record) }
}

/** The annotations that say who uses a claim from now on. */
export function useOf(user: string): Record<string, string> {
  return { [USED_BY]: user, [USED_AT]: new Date().toISOString() }
}

/** The record of a Pod or a claim; `undefined` for what is no workspace. */
export function recordOf(metadata: V1ObjectMeta | undefined): KubernetesRecord | undefined {
  const text = metadata?.annotations?.[RECORD]
  if (text === undefined || metadata?.labels?.['app.kubernetes.io/managed-by'] !== 'atelier') return undefined
  try {
    const record = JSON.parse(text) as KubernetesRecord
    return typeof record?.id === 'string' && typeof record.owner?.user === 'string' ? record : undefined
  } catch {
    // Not written by us.
    return undefined
  }
}

/** Selector for all workspaces, or those of an owner. */
export function selector(owner: Partial<Owner> = {}): string {
  return Object.entries({ ...MANAGED, ...ownerLabels(owner) })
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

function ownerLabels(owner: Partial<Owner>): Record<string, string> {
  const given = Object.entries(owner).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([part, value]) => [`atelier.owner.${part}`, labelValue(value)]))
}

/** The error for something of our name that somebody else made. */
export function notOurs(what: string): WorkspaceError {
  return new WorkspaceError('already_exists', `The ${what} is there and is not this workspace's.`, {
    hint: 'Look at it with kubectl describe, and remove it or use another namespace.',
  })
}
