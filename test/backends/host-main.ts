import type { Backend } from '../../src/backends/backend.ts'
import { createDaytonaBackend } from '../../src/backends/daytona/daytona.ts'
import { createDockerBackend } from '../../src/backends/docker/docker.ts'
import { createE2bBackend } from '../../src/backends/e2b/e2b.ts'
import { createKubernetesBackend } from '../../src/backends/kubernetes/kubernetes.ts'
import { createOpenSandboxBackend } from '../../src/backends/opensandbox/opensandbox.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { gatewayBoot } from '../../src/link/boot.ts'
import { connectGateway } from '../../src/link/connect.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import { openWorkspace } from '../../src/workspace/workspace.ts'
import type { HostTask } from './host.ts'

/** A host in a process of its own; see `HostTask`. */
const CREATE = {
  docker: createDockerBackend,
  kubernetes: createKubernetesBackend,
  e2b: createE2bBackend,
  daytona: createDaytonaBackend,
  opensandbox: createOpenSandboxBackend,
}
const { backend: name, settings, id, script: gatewayScript, work } = JSON.parse(process.argv[2] ?? '') as HostTask
const create = CREATE[name] as unknown as (options: object) => Backend
const backend = create({ ...settings, logger: silentLogger })
const owner = { user: 'u', agent: '', session: '' }
const boot = gatewayBoot(DEFAULT_LIMITS, gatewayScript)
const workspace = await openWorkspace(
  backend,
  { id, name: id, owner, ...(name === 'docker' || name === 'kubernetes' ? { boot } : {}) },
  {
    ...{ limits: DEFAULT_LIMITS, env: {}, owner: `host-${process.pid}`, confine: 'none', goodbye: 'detach' },
    logger: silentLogger,
    connect: (environment, given) => connectGateway(environment, { ...given, gatewayScript }),
  },
)
if (work === 'long') {
  const { job } = await workspace.shell.run({
    session: 's',
    command: 'for i in $(seq 8); do echo tick $i; sleep 1; done',
    background: true,
  })
  await workspace.shell.run(
    { session: 's', command: 'echo begun; sleep 4; echo done' },
    { onOutput: text => text.includes('begun') && process.stdout.write(`${JSON.stringify({ job })}\n`) },
  )
} else {
  await workspace.shell.run({ session: 's', command: `echo ${process.pid} >> hosts` })
  process.stdout.write(`${workspace.info.incarnation}\n`)
}
await workspace.detach()
