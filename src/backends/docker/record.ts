import type { EnvironmentSpec, Owner } from '../backend.ts'

/** Where a workspace's files are: in a directory that Atelier made, in the user's own, in a volume, or in the container. */
export type Keep = 'bound' | 'own' | 'volume' | 'ephemeral'

/** What a workspace is, whether its container is there or not. It stands in labels, and for bound ones in a file too. */
export interface DockerRecord {
  id: string
  name: string
  owner: Owner
  /** ISO 8601. */
  created: string
  ttlMs?: number
  image: string
  profile: string
  env?: Record<string, string>
  keep: Keep
  /** The user's own directory on the host. */
  directory?: string
  /** Atelier's own folders lie in it. */
  layout?: 'workdir'
}

const ID = 'atelier.workspace.id'
/** Real path of the data directory that a container belongs to; empty where none is shared with the engine. */
const DATA_DIR = 'atelier.data-dir'
const HELPER = 'atelier.helper'

/** Record and data directory as labels. */
export function labelsOf(record: DockerRecord, dataDir: string): Record<string, string> {
  const { id, name, owner, created, ttlMs, image, profile, env, keep, directory, layout } = record
  return {
    [ID]: id,
    [DATA_DIR]: dataDir,
    'atelier.workspace.name': name,
    'atelier.owner.user': owner.user,
    'atelier.owner.agent': owner.agent,
    'atelier.owner.session': owner.session,
    'atelier.created': created,
    'atelier.image': image,
    'atelier.profile': profile,
    'atelier.keep': keep,
    ...(ttlMs === undefined ? {} : { 'atelier.ttl-ms': String(ttlMs) }),
    ...(env === undefined ? {} : { 'atelier.env': JSON.stringify(env) }),
    ...(directory === undefined ? {} : { 'atelier.directory': directory }),
    ...(layout === undefined ? {} : { 'atelier.layout': layout }),
  }
}

/** Labels of a container that only does a chore. */
export function helperLabels(dataDir: string): Record<string, string> {
  return { [HELPER]: 'true', [DATA_DIR]: dataDir }
}

/** The record of labels; `undefined` for what is no workspace, or of another data directory. */
export function recordOf(labels: Readonly<Record<string, string>> | undefined, dataDir: string): DockerRecord | undefined {
  const id = labels?.[ID]
  if (labels === undefined || id === undefined || labels[DATA_DIR] !== dataDir) return undefined
  const text = (name: string) => labels[`atelier.${name}`] ?? ''
  const [env, ttl, directory] = [labels['atelier.env'], labels['atelier.ttl-ms'], labels['atelier.directory']]
  return {
    id,
    name: text('workspace.name'),
    owner: { user: text('owner.user'), agent: text('owner.agent'), session: text('owner.session') },
    created: text('created'),
    image: text('image'),
    profile: text('profile'),
    keep: text('keep') as Keep,
    ...(ttl === undefined ? {} : { ttlMs: Number(ttl) }),
    ...(env === undefined ? {} : { env: JSON.parse(env) as Record<string, string> }),
    ...(directory === undefined ? {} : { directory }),
    ...(labels['atelier.layout'] === 'workdir' ? { layout: 'workdir' } : {}),
  }
}

/** The engine's filter for workspaces (or helpers) of a data directory and, where given, an owner. */
export function labelFilter(dataDir: string, wanted: { helper?: boolean; owner?: Partial<Owner> } = {}): { label: string[] } {
  const owner = Object.entries(wanted.owner ?? {}).filter(entry => entry[1] !== undefined)
  const parts = owner.map(([part, value]) => `atelier.owner.${part}=${value}`)
  return { label: [`${DATA_DIR}=${dataDir}`, wanted.helper ? HELPER : ID, ...parts] }
}

/** A record for what `spec` asks to be made. */
export function newRecord(spec: EnvironmentSpec, choice: Pick<DockerRecord, 'image' | 'profile' | 'keep'>): DockerRecord {
  const { id, name, owner, env, ttlMs, directory, layout } = spec
  return {
    ...{ id, name, owner, created: new Date().toISOString(), ...choice },
    ...(env === undefined ? {} : { env }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(directory === undefined ? {} : { directory }),
    ...(layout === undefined ? {} : { layout }),
  }
}
