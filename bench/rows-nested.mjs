import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atelier, stdioClient } from './clients.mjs'
import { containersOf, hasImage, IN_DOCKER, rawStream, removeContainers, skipped } from './engine.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { makePlace } from './place.mjs'

const SERVER = fileURLToPath(new URL('noop-server.cjs', import.meta.url))
const GOOD = 46
const BROKEN = { command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] }
const HANGING = { command: 'sleep', args: ['600'] }

/** A no-op tool of a nested server, with the same server spoken to directly, on `local` and where there is an engine in Docker. */
export async function nested() {
  const place = makePlace()
  const ends = []
  try {
    const directly = bareServer(place)
    ends.push(() => directly.end())
    await directly.initialize()
    const rows = [await nestedCall('local', [], { place, directly, ends, echo: ['cat', []] })]
    if (!hasImage()) {
      rows.push(skipped('nested no-op call, docker'))
      return rows
    }
    ends.unshift(() => removeContainers(place))
    const echo = () => ['docker', ['exec', '-i', containersOf(place)[0], 'cat']]
    rows.push(await nestedCall('docker', IN_DOCKER, { place, directly, ends, echo }))
    return rows
  } finally {
    for (const end of ends.reverse()) await end()
    place.end()
  }
}

async function nestedCall(backend, args, { place, directly, ends, echo }) {
  const client = atelier(place, args)
  ends.push(() => client.end())
  await client.initialize()
  const command = backend === 'local' ? process.execPath : 'node'
  await succeeds(client.call('mcp_add', { name: `noop-${backend}`, command, args: ['-e', readFileSync(SERVER, 'utf8')] }))
  const stream = rawStream(...(typeof echo === 'function' ? echo() : echo))
  ends.push(() => stream.end())
  const call = () => client.call(`mcp__noop-${backend}__noop`)
  await succeeds(call())
  const times = await interleave(
    { direct: () => directly.call('noop'), stream: () => stream.roundTrip(), ours: call },
    { rounds: 400, warmUp: 100 },
  )
  const limit = quantile(times.direct) + 2 + quantile(times.stream)
  const bar = `≤ direct + 2 ms + a round trip (${quantile(times.stream).toFixed(2)} ms)`
  return line(`nested no-op call, ${backend}`, { ours: times.ours, base: times.direct, limit, bar })
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

async function succeeds(call) {
  const result = await call
  if (result.isError) throw new Error(JSON.stringify(result.content))
}
