import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atelier, stdioClient, succeeds } from './clients.mjs'
import { rawStream } from './engine.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { makePlace, withClient } from './place.mjs'

export const SERVER = fileURLToPath(new URL('noop-server.cjs', import.meta.url))
/** The tool of `SERVER` as it is called through us. */
export const NESTED_TOOL = 'mcp__noop__noop'
const GOOD = 46
const BROKEN = { command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] }
const HANGING = { command: 'sleep', args: ['600'] }

/** A no-op tool of a nested server on `local`. */
export const nested = () =>
  withClient(async (place, client) => {
    const stream = rawStream('cat', [])
    try {
      return [await nestedLine('local', { place, client, roundTrip: stream.roundTrip })]
    } finally {
      stream.end()
    }
  })

/** A call of a nested server's tool that does nothing, with the same server spoken to directly on this host. */
export async function nestedLine(backend, { place, client, roundTrip }) {
  const directly = bareServer(place)
  try {
    await directly.initialize()
    const command = backend === 'local' ? process.execPath : 'node'
    await succeeds(client.call('mcp_add', { name: 'noop', command, args: ['-e', readFileSync(SERVER, 'utf8')] }))
    const ours = () => succeeds(client.call(NESTED_TOOL))
    const times = await interleave({ direct: () => directly.call('noop'), stream: roundTrip, ours }, { rounds: 300, warmUp: 100 })
    const limit = quantile(times.direct) + 2 + quantile(times.stream)
    const bar = `≤ direct + 2 ms + a round trip (${quantile(times.stream).toFixed(2)} ms)`
    return line(`nested no-op call, ${backend}`, { ours: times.ours, base: times.direct, limit, bar })
  } finally {
    await directly.end()
  }
}

/** 50 declared servers, of which 3 are broken and 1 hangs: the first list of a new run, and one call to each good one at once. */
export async function many() {
  const place = makePlace()
  try {
    const mcpServers = { hangs: HANGING }
    for (let index = 0; index < 3; index += 1) mcpServers[`broken${index}`] = BROKEN
    for (let index = 0; index < GOOD; index += 1) mcpServers[`good${index}`] = { command: process.execPath, args: [SERVER] }
    place.env.ATELIER_CONFIG = join(place.root, 'nested.json')
    writeFileSync(place.env.ATELIER_CONFIG, JSON.stringify({ mcpServers }))
    await learn(place)
    const lists = []
    const times = await interleave({ bare: () => allBare(place), ours: () => allNested(place, lists) }, { rounds: 5, warmUp: 1 })
    const limit = 1.3 * quantile(times.bare)
    return [
      line('50 declared: start to tools/list', { ours: lists, limit: 1_000, bar: '≤ 1 s' }),
      line('46 nested servers started', { ours: times.ours, base: times.bare, limit, bar: '≤ 1.3 × bare, in parallel' }),
    ]
  } finally {
    place.end()
  }
}

/** The run in which the lists become known. */
async function learn(place) {
  const client = atelier(place)
  await client.initialize()
  await client.call('Bash', { command: 'true' })
  while ((await nestedTools(client)).length < GOOD) await new Promise(resolve => setTimeout(resolve, 100))
  await client.end()
  await place.quiet()
}

async function allNested(place, lists) {
  const begin = performance.now()
  const client = atelier(place)
  await client.initialize()
  const tools = await nestedTools(client)
  lists.push(performance.now() - begin)
  if (tools.length !== GOOD) throw new Error(`the first list has ${tools.length} nested tools, not ${GOOD}`)
  await client.call('Bash', { command: 'true' })
  const started = await timed(() => Promise.all(tools.map(name => succeeds(client.call(name)))))
  await client.end()
  await place.quiet()
  return started
}

async function allBare(place) {
  const servers = []
  const started = await timed(() =>
    Promise.all(
      Array.from({ length: GOOD }, async () => {
        const server = bareServer(place)
        servers.push(server)
        await server.initialize()
        await server.ask('tools/list', {})
        await succeeds(server.call('noop'))
      }),
    ),
  )
  await Promise.all(servers.map(server => server.end()))
  return started
}

const bareServer = place => stdioClient(process.execPath, [SERVER], { cwd: place.project, env: place.env })

async function nestedTools(client) {
  const { tools } = await client.ask('tools/list', {})
  return tools.map(({ name }) => name).filter(name => name.startsWith('mcp__'))
}

async function timed(run) {
  const begin = performance.now()
  await run()
  return performance.now() - begin
}
