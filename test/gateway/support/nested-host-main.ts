import type { Environment } from '../../../src/backends/backend.ts'
import type { NestedStartParams } from '../../../src/gateway/protocol.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'

// A host process that starts a nested server, has a call in flight there, says so, and waits to be killed.
const [base = '', gatewayScript = '', graceMs = '', start = ''] = process.argv.slice(2)
const environment = { info: { id: 'test', workdir: base, root: base, socket: `${base}/run/s`, backend: 'local' } } as Environment
const client = connectGateway(environment, {
  ...{ owner: 'o', env: { PATH: process.env.PATH ?? '' }, graceMs: Number(graceMs), gatewayIdleMs: 20_000 },
  ...{ jobMaxLifeMs: 1e6, logMaxBytes: 1e6, reconnectMs: 10_000, logger: silentLogger, gatewayScript },
})
const { server } = await client.call('nested.start', JSON.parse(start) as NestedStartParams)
const params = { name: 'hang', arguments: {} }
await client.call('nested.send', { server, message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } })
process.stdout.write(`${server}\n`)
setInterval(() => {}, 1000)
