import type Dockerode from 'dockerode'
import type { Engine } from './engine.ts'
import { WORKDIR } from './place.ts'
import type { DockerProfile } from './profile.ts'
import { HOME, PROGRAM_FOLDER, RUNTIME_FOLDER } from './program.ts'

export interface HostUser {
  uid: number
  gid: number
}

/** User of a profile's containers, as the engine takes it; `undefined`: the image's own. */
export function userOf(profile: DockerProfile, engine: Pick<Engine, 'rootless'>, host: HostUser): string | undefined {
  const { user = 'image' } = profile
  if (user === 'image') return undefined
  if (user !== 'host') return user
  // Root in a rootless engine's container is the user that the engine runs as.
  return engine.rootless ? '0:0' : `${host.uid}:${host.gid}`
}

interface Parts {
  profile: DockerProfile
  engine: Pick<Engine, 'rootless' | 'userNamespace'>
  hostUser: HostUser
  mounts: readonly Dockerode.MountSettings[]
}

/** What a profile says, in the engine's words; name, image, labels and command are the caller's. */
export function containerOptions({ profile, engine, hostUser, mounts }: Parts): Dockerode.ContainerCreateOptions {
  const user = userOf(profile, engine, hostUser)
  return {
    ...(user === undefined ? {} : { User: user }),
    WorkingDir: WORKDIR,
    Env: environment(profile, hostUser),
    OpenStdin: false,
    HostConfig: {
      ...limits(profile),
      ...confinement(profile),
      Mounts: [
        ...mounts,
        { Type: 'volume', Target: PROGRAM_FOLDER } as Dockerode.MountSettings,
        ...(profile.mounts ?? []).map(
          ({ source, target, readOnly = false }): Dockerode.MountSettings => ({
            ...{ Type: 'bind', Source: source, Target: target, ReadOnly: readOnly },
          }),
        ),
      ],
      Init: profile.init ?? true,
      ...(engine.userNamespace && profile.user === 'host' ? withoutRemapping(profile, hostUser) : {}),
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
    },
  }
}

function limits({ cpus, memoryBytes, pids }: DockerProfile): Dockerode.HostConfig {
  return {
    ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
    ...(memoryBytes === undefined ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(pids === undefined ? {} : { PidsLimit: pids }),
  }
}

function confinement({ network, readOnlyRoot, capDrop, securityOpt, tmpfs }: DockerProfile): Dockerode.HostConfig {
  return {
    ...(network === undefined ? {} : { NetworkMode: network }),
    ...(readOnlyRoot === undefined ? {} : { ReadonlyRootfs: readOnlyRoot }),
    ...(capDrop === undefined ? {} : { CapDrop: [...capDrop] }),
    ...(securityOpt === undefined ? {} : { SecurityOpt: [...securityOpt] }),
    ...(tmpfs === undefined ? {} : { Tmpfs: { ...tmpfs } }),
  }
}

/**
 * The files of a host's user are that user's inside as well. What the engine extracts it gives to remapped users all the same, so
 * that private folders have to be mounts.
 */
function withoutRemapping({ tmpfs }: DockerProfile, { uid, gid }: HostUser): Dockerode.HostConfig {
  const options = `rw,exec,mode=0700,uid=${uid},gid=${gid}`
  return { UsernsMode: 'host', Tmpfs: { ...tmpfs, [RUNTIME_FOLDER]: options, [HOME]: options } }
}

/** git refuses directories of other users unless told; which user owns a mounted one is not the agent's to settle. */
const GIT_TRUST = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' }

function environment(profile: DockerProfile, hostUser: HostUser): string[] {
  const foreign = profile.user === 'host' || hostUser.uid === 0 ? {} : GIT_TRUST
  const home = profile.user === undefined || profile.user === 'image' ? {} : { HOME }
  return Object.entries({ ...foreign, ...home, ...profile.env }).map(([name, value]) => `${name}=${value}`)
}
