import type { EnvironmentInfo, EnvironmentSpec, Owner } from '../backend.ts'
import type { SandboxInfo } from './sdk.ts'

/** What a workspace is, as it stands in a sandbox's metadata from its creation on. */
export interface E2bRecord {
  id: string
  name: string
  owner: Owner
  /** ISO 8601. */
  created: string
  /** Of the one call that made the sandbox. */
  maker: string
  workdir: string
  /** Template that it was made of; what other backends call an image. */
  template: string
  ttlMs?: number
  env?: Record<string, string>
}

const ID = 'atelier.id'
const USER = 'atelier.user'
const KIND = 'atelier.kind'
const WORKSPACE = 'workspace'

/** The record as metadata: printable ASCII whatever the names are, and nothing for what is empty. */
export function metadataOf(record: E2bRecord): Record<string, string> {
  const { id, name, owner, created, maker, workdir, template, ttlMs, env } = record
  const free = {
    'atelier.name': name,
    [USER]: owner.user,
    'atelier.agent': owner.agent,
    'atelier.session': owner.session,
    'atelier.workdir': workdir,
    'atelier.image': template,
    'atelier.env': env === undefined ? '' : JSON.stringify(env),
  }
  const encoded = Object.entries(free).map(([key, value]) => [key, encodeURIComponent(value)] as const)
  return {
    ...{ [KIND]: WORKSPACE, [ID]: id, 'atelier.created': created, 'atelier.maker': maker },
    ...(ttlMs === undefined ? {} : { 'atelier.ttl-ms': String(ttlMs) }),
    ...Object.fromEntries(encoded.filter(([, value]) => value !== '')),
  }
}

/** The record of metadata; `undefined` for a sandbox that is no workspace. */
export function recordOf(metadata: Readonly<Record<string, string>>): E2bRecord | undefined {
  const id = metadata[ID]
  if (id === undefined || metadata[KIND] !== WORKSPACE) return undefined
  const free = (key: string): string => decode(metadata[key] ?? '')
  const [env, ttl] = [free('atelier.env'), metadata['atelier.ttl-ms']]
  return {
    id,
    name: free('atelier.name'),
    owner: { user: free(USER), agent: free('atelier.agent'), session: free('atelier.session') },
    created: metadata['atelier.created'] ?? '',
    maker: metadata['atelier.maker'] ?? '',
    workdir: free('atelier.workdir'),
    template: free('atelier.image'),
    ...(ttl === undefined ? {} : { ttlMs: Number(ttl) }),
    ...(env === '' ? {} : { env: JSON.parse(env) as Record<string, string> }),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Somebody else's hand.
    return text
  }
}

/** What the service is to look for: one workspace, or those of a user. */
export function metadataFilter(wanted: { id: string } | { user: string | undefined }): Record<string, string> {
  if ('id' in wanted) return { [ID]: wanted.id }
  return { [KIND]: WORKSPACE, ...(wanted.user ? { [USER]: encodeURIComponent(wanted.user) } : {}) }
}

/** A record for what `spec` asks to be made. */
export function newRecord(
  spec: EnvironmentSpec,
  { maker, workdir, template }: Pick<E2bRecord, 'maker' | 'workdir' | 'template'>,
): E2bRecord {
  const { id, name, owner, env, ttlMs } = spec
  return {
    ...{ id, name, owner, maker, workdir, template, created: new Date().toISOString() },
    ...(env === undefined ? {} : { env }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
  }
}

/** A sandbox of a workspace, as it was listed. */
export interface Listed {
  sandboxId: string
  state: SandboxInfo['state']
  /** By the service's clock: when it was made, or last resumed. */
  startedAt: Date
  record: E2bRecord
}

/** Which of several sandboxes of one workspace counts: the oldest by its record, then by its id. */
export function inOrder(a: Listed, b: Listed): number {
  const key = ({ record, sandboxId }: Listed): string => `${record.created} ${sandboxId}`
  return key(a) < key(b) ? -1 : 1
}

/** A workspace as the layers above see it. */
export function infoOf({ record, sandboxId, state }: Listed, more: { ended?: string } = {}): EnvironmentInfo {
  const { id, name, owner, created, workdir, template, env } = record
  return {
    ...{ id, backend: 'e2b', name, owner, createdAt: created, workdir, root: workdir, madeByAtelier: true },
    state: state === 'running' ? 'running' : 'suspended',
    incarnation: sandboxId,
    ...(env === undefined ? {} : { env }),
    ...more,
    details: { sandbox: sandboxId, image: template },
  }
}
