import { readFile } from 'node:fs/promises'
import type { EnvironmentSpec } from '../backends/backend.ts'
import { DAEMON_FLAGS } from '../gateway/daemon-flags.ts'
import { type DaemonSetup, gatewayFlags } from './gateway-flags.ts'
import { gatewayScript } from './gateway-script.ts'

const PROGRAM = 'gateway.mjs'

/**
 * The gateway as what a backend puts in before the start and makes the main process. Its file is read when it is asked for; absent:
 * the one that came with this build.
 */
export function gatewayBoot(
  setup: Omit<DaemonSetup, 'dir' | 'workdir' | 'root'>,
  script?: string,
): NonNullable<EnvironmentSpec['boot']> {
  let program: Promise<Buffer> | undefined
  return async ({ node, folder, ...place }) => {
    program ??= readFile(script ?? gatewayScript())
    const flags = gatewayFlags({ ...setup, ...place, mainProcess: true, inheritEnv: true })
    return {
      files: [{ path: PROGRAM, data: await program, mode: 0o755 }],
      argv: [node, ...DAEMON_FLAGS, `${folder}/${PROGRAM}`, 'serve', ...flags],
    }
  }
}
