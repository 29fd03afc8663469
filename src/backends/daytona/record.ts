import type { EnvironmentSpec, Owner, OwnerFilter } from '../backend.ts'

/** What is known of a workspace by its sandbox's labels alone. */
export interface DaytonaRecord {
  id: string
  name: string
  owner: Owner
  /** ISO 8601. */
  created: string
  workdir: string
  /** What it was made from, for people to read. */
  image: string
  /** Names of the variables that the spec asked for. */
  envNames: readonly string[]
  ttlMs?: number
  /** Tells which call made the sandbox. */
  attempt: string
  /** Whether anyone was ever given it. What was not holds no files. */
  handedOut: boolean
}

const PREFIX = 'atelier.'
const ID = `${PREFIX}workspace.id`
const NAMESPACE = `${PREFIX}namespace`
const ATTEMPT = `${PREFIX}attempt`
const HANDED_OUT = `${PREFIX}handed-out`
const OWNER = { user: `${PREFIX}owner.user`, agent: `${PREFIX}owner.agent`, session: `${PREFIX}owner.session` }

/** Name of a workspace's sandbox: unique in the organization. */
export function sandboxName(id: string, namespace = ''): string {
  return namespace === '' ? `atelier-${id}` : `atelier-${namespace}-${id}`
}

/** Any text in printable ASCII: what is not becomes `%` and four hexadecimal digits of a UTF-16 unit. */
export function encodeLabel(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]/g, unit => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function decodeLabel(text: string): string {
  return text.replace(/%([0-9a-f]{4})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))
}

/** The labels of a new sandbox. */
export function labelsOf(record: DaytonaRecord, namespace = ''): Record<string, string> {
  const { id, name, owner, created, workdir, image, envNames, ttlMs, attempt, handedOut } = record
  const plain = {
    ...{ [ID]: id, [NAMESPACE]: namespace, [ATTEMPT]: attempt, [`${PREFIX}workspace.name`]: name },
    ...{ [OWNER.user]: owner.user, [OWNER.agent]: owner.agent, [OWNER.session]: owner.session },
    ...{ [`${PREFIX}created`]: created, [`${PREFIX}workdir`]: workdir, [`${PREFIX}image`]: image },
    ...{ [`${PREFIX}env`]: envNames.join(','), [HANDED_OUT]: handedOut ? 'yes' : 'no' },
    ...(ttlMs === undefined ? {} : { [`${PREFIX}ttl-ms`]: String(ttlMs) }),
  }
  return Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, encodeLabel(value)]))
}

/** The record of labels; `undefined` for what is no workspace, or one of another namespace. */
export function recordOf(labels: Readonly<Record<string, string>> | undefined, namespace = ''): DaytonaRecord | undefined {
  const text = (key: string): string => decodeLabel(labels?.[key] ?? '')
  if (labels?.[ID] === undefined || text(NAMESPACE) !== namespace) return undefined
  const ttl = labels[`${PREFIX}ttl-ms`]
  return {
    ...{ id: text(ID), name: text(`${PREFIX}workspace.name`), created: text(`${PREFIX}created`) },
    owner: { user: text(OWNER.user), agent: text(OWNER.agent), session: text(OWNER.session) },
    ...{ workdir: text(`${PREFIX}workdir`), image: text(`${PREFIX}image`), attempt: text(ATTEMPT) },
    // Nothing is made of what somebody else wrote.
    handedOut: text(HANDED_OUT) !== 'no',
    envNames: text(`${PREFIX}env`)
      .split(',')
      .filter(name => name !== ''),
    ...(ttl === undefined ? {} : { ttlMs: Number(ttl) }),
  }
}

/** The labels of a sandbox once somebody is given it. */
export function handedOutLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return { ...labels, [HANDED_OUT]: 'yes' }
}

/** Labels that all workspaces of a namespace and, where given, an owner have. */
export function labelQuery(owner: OwnerFilter, namespace = ''): Record<string, string> {
  const parts = (Object.keys(OWNER) as (keyof Owner)[]).flatMap(part => {
    const value = owner[part]
    return value === undefined ? [] : [[OWNER[part], encodeLabel(value)]]
  })
  return { [NAMESPACE]: encodeLabel(namespace), ...Object.fromEntries(parts) }
}

/** A record for what `spec` asks to be made. */
export function newRecord(spec: EnvironmentSpec, choice: Pick<DaytonaRecord, 'workdir' | 'image' | 'attempt'>): DaytonaRecord {
  const { id, name, owner, env = {}, ttlMs } = spec
  const fresh = { created: new Date().toISOString(), envNames: Object.keys(env), handedOut: false }
  const made = { id, name, owner, ...fresh, ...choice }
  return ttlMs === undefined ? made : { ...made, ttlMs }
}
