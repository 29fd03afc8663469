import type { EnvironmentSpec, Owner } from '../backend.ts'
import { labelFilter, labelsFor, textOf } from './labels.ts'

/** What a workspace is, as it stands in a sandbox's metadata from its creation on. */
export interface OpenSandboxRecord {
  id: string
  name: string
  owner: Owner
  /** Ms since 1970. */
  created: number
  /** Of the one call that made the sandbox. */
  maker: string
  image: string
  workdir: string
  ttlMs: number
  env?: Record<string, string>
  /** When it was handed out for the first time, ms since 1970; absent before. What was never handed out holds no data. */
  handedOut?: number
  /** When a host last said that it uses it, ms since 1970. */
  seen?: number
}

const KEY = {
  kind: 'atelier.kind',
  id: 'atelier.id',
  name: 'atelier.name',
  user: 'atelier.user',
  agent: 'atelier.agent',
  session: 'atelier.session',
  created: 'atelier.created',
  maker: 'atelier.maker',
  image: 'atelier.image',
  workdir: 'atelier.workdir',
  ttl: 'atelier.ttl-ms',
  env: 'atelier.env',
  handedOut: 'atelier.handed-out',
  seen: 'atelier.seen',
} as const
const WORKSPACE = 'workspace'

/** The record as metadata that the server takes, whatever the names are. */
export function metadataOf(record: OpenSandboxRecord): Record<string, string> {
  const { id, name, owner, created, maker, image, workdir, ttlMs, env } = record
  return {
    ...{ [KEY.kind]: WORKSPACE, [KEY.created]: String(created), [KEY.maker]: maker, [KEY.ttl]: String(ttlMs) },
    ...labelsFor(KEY.id, id),
    ...labelsFor(KEY.name, name),
    ...labelsFor(KEY.user, owner.user),
    ...labelsFor(KEY.agent, owner.agent),
    ...labelsFor(KEY.session, owner.session),
    ...labelsFor(KEY.image, image),
    ...labelsFor(KEY.workdir, workdir),
    ...labelsFor(KEY.env, env === undefined ? '' : JSON.stringify(env)),
  }
}

/** The record of metadata; `undefined` for a sandbox that is no workspace. */
export function recordOf(metadata: Readonly<Record<string, string>> = {}): OpenSandboxRecord | undefined {
  const id = textOf(metadata, KEY.id)
  if (id === '' || metadata[KEY.kind] !== WORKSPACE) return undefined
  const text = (key: string): string => textOf(metadata, key)
  const [env, handedOut, seen] = [text(KEY.env), metadata[KEY.handedOut], metadata[KEY.seen]]
  return {
    ...{ id, name: text(KEY.name), created: numberOf(metadata[KEY.created]), maker: text(KEY.maker) },
    owner: { user: text(KEY.user), agent: text(KEY.agent), session: text(KEY.session) },
    ...{ image: text(KEY.image), workdir: text(KEY.workdir), ttlMs: numberOf(metadata[KEY.ttl]) },
    ...(env === '' ? {} : envOf(env)),
    ...(handedOut === undefined ? {} : { handedOut: numberOf(handedOut) }),
    ...(seen === undefined ? {} : { seen: numberOf(seen) }),
  }
}

/** Somebody else's hand must not keep a sandbox from being found. */
function numberOf(text = ''): number {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : 0
}

function envOf(json: string): { env?: Record<string, string> } {
  try {
    const env: unknown = JSON.parse(json)
    return typeof env === 'object' && env !== null ? { env: env as Record<string, string> } : {}
  } catch {
    return {}
  }
}

/** What is to be added when a sandbox is handed out, and when a host uses it. */
export function marks(now: number, what: { handedOut?: boolean } = {}): Record<string, string> {
  return { [KEY.seen]: String(now), ...(what.handedOut ? { [KEY.handedOut]: String(now) } : {}) }
}

/** What the server is to look for: one workspace, or those of a user. */
export function metadataFilter(wanted: { id: string } | { user: string | undefined }): Record<string, string> {
  const which = 'id' in wanted ? labelFilter(KEY.id, wanted.id) : labelFilter(KEY.user, wanted.user ?? '')
  return { [KEY.kind]: WORKSPACE, ...which }
}

/** A record for what `spec` asks to be made. */
export function newRecord(
  spec: EnvironmentSpec,
  choice: Pick<OpenSandboxRecord, 'maker' | 'workdir' | 'image' | 'ttlMs'>,
): OpenSandboxRecord {
  const { id, name, owner, env } = spec
  return { id, name, owner, created: Date.now(), ...choice, ...(env === undefined ? {} : { env }) }
}
