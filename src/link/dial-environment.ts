import type { Environment } from '../backends/backend.ts'
import type { Dial } from './dial.ts'
import { type DaemonSetup, gatewayFlags } from './gateway-flags.ts'
import { install } from './install.ts'

/** Where things are on this host. */
export interface HostPlace {
  /** Path of the built gateway program. */
  script: () => string
  /** Folder for a downloaded node. */
  cacheDir: string
}

/** Dials the gateway inside an environment through its stream, putting the program in first where it is not there yet. */
export function dialEnvironment(environment: Environment, { script, cacheDir }: HostPlace, setup: DaemonSetup): Dial {
  const { gateway } = environment.info
  if (gateway !== undefined) {
    const argv = [gateway.node, gateway.script, 'attach', ...gatewayFlags({ ...setup, dir: gateway.dir, mainProcess: true })]
    return async signal => ({ stream: await environment.openStream(argv, { signal }), clean: true })
  }
  return async signal => {
    const inside = await install(environment, { dir: setup.dir, script: script(), cacheDir, signal })
    const argv = [inside.node, inside.script, 'attach', ...gatewayFlags(setup)]
    return { stream: await environment.openStream(argv, { signal }), clean: true }
  }
}
