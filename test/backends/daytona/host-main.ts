import { createDaytonaBackend } from '../../../src/backends/daytona/daytona.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS } from '../../../src/workspace/limits.ts'
import { openWorkspace } from '../../../src/workspace/workspace.ts'

// A host in a process of its own: opens the workspace, runs one command, and says its sandbox.
const [apiUrl = '', id = '', gatewayScript = ''] = process.argv.slice(-3)
const backend = createDaytonaBackend({ apiKey: 'dtn_test', apiUrl, logger: silentLogger })
const owner = { user: 'u', agent: '', session: '' }
const workspace = await openWorkspace(
  backend,
  { id, name: id, owner },
  {
    ...{
      limits: DEFAULT_LIMITS,
      env: {},
      owner: `host-${process.pid}`,
      confine: 'none',
      goodbye: 'detach',
      logger: silentLogger,
    },
    connect: (environment, given) => connectGateway(environment, { ...given, gatewayScript }),
  },
)
await workspace.shell.run({ session: 's', command: `echo ${process.pid} >> hosts` })
process.stdout.write(`${workspace.info.incarnation}\n`)
await workspace.detach()
