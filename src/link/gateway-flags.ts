/** How a daemon is to be set up. */
export interface DaemonSetup {
  dir: string
  workdir: string
  root: string
  gatewayIdleMs: number
  logMaxBytes: number
  jobMaxLifeMs: number
  confine?: string | undefined
  /** The gateway is the environment's main process. */
  mainProcess?: boolean
  /** Commands begin with the variables of the environment itself; on the host they don't. */
  inheritEnv?: boolean
}

/** The flags that `serve` and `attach` take. */
export function gatewayFlags(setup: DaemonSetup): string[] {
  const flags = ['--dir', setup.dir, '--workdir', setup.workdir, '--root', setup.root]
  flags.push('--idle-ms', String(setup.gatewayIdleMs), '--log-max-bytes', String(setup.logMaxBytes))
  flags.push('--job-max-life-ms', String(setup.jobMaxLifeMs))
  if (setup.confine !== undefined) flags.push('--confine', setup.confine)
  if (setup.mainProcess) flags.push('--main-process')
  if (setup.inheritEnv) flags.push('--inherit-env')
  return flags
}
