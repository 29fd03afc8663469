import type { Environment } from '../../../src/backends/backend.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'

// A host process that starts `hold` in the gateway of the directory given, says so, and waits to be killed.
const [base = '', gatewayScript = '', graceMs = ''] = process.argv.slice(2)
const environment = { info: { id: 'test', workdir: base, root: base, socket: `${base}/run/s`, backend: 'local' } } as Environment
const client = connectGateway(environment, {
  ...{ owner: 'o', env: {}, graceMs: Number(graceMs), gatewayIdleMs: 20_000, jobMaxLifeMs: 1e6, logMaxBytes: 1e6 },
  ...{ reconnectMs: 10_000, logger: silentLogger, gatewayScript },
})
await client.call('command.run', { session: 's', command: 'job:held', headBytes: 1, tailBytes: 1 })
const { pid } = await client.opened()
process.stdout.write(`${pid}\n`)
setInterval(() => {}, 1000)
