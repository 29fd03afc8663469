import { dialDaemon } from '../gateway/attach.ts'
import { DAEMON_FLAGS } from '../gateway/daemon-flags.ts'
import type { Dial } from './dial.ts'
import { type DaemonSetup, gatewayFlags } from './gateway-flags.ts'

/** Dials the daemon of a runtime directory on this host, starting it (detached, it outlives us) when there is none. */
export function dialLocal(script: () => string, setup: DaemonSetup): Dial {
  return async signal => {
    const command = { node: process.execPath, args: [...DAEMON_FLAGS, script(), 'serve', ...gatewayFlags(setup)] }
    return { stream: await dialDaemon(setup.dir, command, { signal }), clean: true }
  }
}
