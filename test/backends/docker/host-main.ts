import { createDockerBackend } from '../../../src/backends/docker/docker.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { gatewayBoot } from '../../../src/link/boot.ts'
import { DEFAULT_LIMITS } from '../../../src/workspace/limits.ts'
import { openWorkspace } from '../../../src/workspace/workspace.ts'

/** A host for tests to kill: opens a workspace, starts a job and a foreground command, and says so. */
const [dataDir = '', script = '', image = '', id = ''] = process.argv.slice(2)
const backend = createDockerBackend({ dataDir, env: process.env, image, logger: silentLogger })
const spec = { id, name: id, owner: { user: 'u', agent: '', session: '' }, boot: gatewayBoot(DEFAULT_LIMITS, script) }
const workspace = await openWorkspace(backend, spec, {
  ...{ limits: DEFAULT_LIMITS, env: {}, owner: 'test', confine: 'none', goodbye: 'detach', logger: silentLogger },
})
const job = await workspace.shell.run({
  session: 's',
  command: 'for i in 1 2 3 4 5 6 7 8; do echo tick $i; sleep 1; done',
  background: true,
})
const running = workspace.shell.run(
  { session: 's', command: 'echo begun; sleep 4; echo done' },
  { onOutput: text => text.includes('begun') && process.stdout.write(`${JSON.stringify({ job: job.job })}\n`) },
)
await running
