import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { succeeds } from '../clients.mjs'
import { interleave, line, quantile } from '../measure.mjs'
import { openWire } from './wire.mjs'

const FAR_MS = 20
const IDLE_MS = 65_000
const COMMANDS = 60
const CLOUDS = ['e2b', 'daytona', 'opensandbox']

const echoOn = client => () => succeeds(client.call('Bash', { command: 'echo hi' }))
/** Of TLS the requests can't be seen; an exec of its own is a connection. */
const kindOf = backend => (backend === 'kubernetes' ? 'connections' : 'requests')

/** A round trip of the backend's stream with nothing in between. */
const streamOf = backend => `stream of ${backend}`

/** How many requests to the service a command takes, one number for each command. */
export async function requestRows(far) {
  const rows = []
  for (const { backend, client, wire } of far) {
    const kind = kindOf(backend)
    const counts = []
    for (let at = 0; at < COMMANDS; at += 1) {
      const before = wire[kind]
      await echoOn(client)()
      counts.push(wire[kind] - before)
    }
    const barred = CLOUDS.includes(backend) ? { limit: 0, share: 0.95, bar: 'p95 0' } : { bar: '–' }
    rows.push(line(`${kind} of a command, ${backend}`, { ours: counts, unit: kind, ...barred }))
  }
  return rows
}

/** A command with the service so far away that a second round trip shows. */
export async function farRows(local, far) {
  if (far.length === 0) return []
  const bounce = await openBounce()
  try {
    for (const { wire } of [...far, bounce]) wire.delayMs = FAR_MS
    const sides = Object.fromEntries(far.map(({ backend, client }) => [backend, echoOn(client)]))
    const streams = Object.fromEntries(far.map(({ backend, runner }) => [streamOf(backend), runner.roundTrip]))
    const both = { local: echoOn(local.client), way: bounce.roundTrip, ...sides, ...streams }
    const times = await interleave(both, { rounds: 60, warmUp: 10 })
    const [command, way] = [quantile(times.local), quantile(times.way)]
    return far.map(({ backend }) => {
      const stream = times[streamOf(backend)]
      const base = times.local.map((time, at) => time + times.way[at] + stream[at])
      const limit = 2 * FAR_MS + command + quantile(stream)
      const parts = [command, quantile(stream)].map(ms => `${ms.toFixed(2)} ms`)
      const bar = `≤ ${2 * FAR_MS} ms + local (${parts[0]}) + its stream unhindered (${parts[1]}); the wire took ${way.toFixed(2)} ms`
      return line(`Bash echo hi, ${FAR_MS} ms each way, ${backend}`, { ours: times[backend], base, limit, bar })
    })
  } finally {
    for (const { wire } of far) wire.delayMs = 0
    bounce.end()
  }
}

/** What a wire itself takes: a byte through it and back. */
async function openBounce() {
  const server = createServer(socket => socket.setNoDelay(true).pipe(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const wire = await openWire({ hostname: '127.0.0.1', port: server.address().port })
  const [host, port] = wire.host.split(':')
  const socket = connect({ host, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return {
    wire,
    async roundTrip() {
      socket.write('x')
      await once(socket, 'data')
    },
    end() {
      socket.destroy()
      wire.end()
      server.close()
    },
  }
}

/** What an open workspace costs that nobody uses, and whether it is still there then. */
export async function idleRows(far) {
  if (far.length === 0) return []
  const before = far.map(({ wire }) => ({ ...wire }))
  await sleep(IDLE_MS)
  const rows = []
  for (const [at, { backend, client, wire }] of far.entries()) {
    const [kind, minutes] = [kindOf(backend), IDLE_MS / 60_000]
    const sent = (wire.bytes - before[at].bytes) / 1024 / minutes
    const asked = wire[kind] - before[at][kind]
    const begin = performance.now()
    await echoOn(client)()
    const after = performance.now() - begin
    rows.push(
      line(`a minute of idling, ${backend}`, { ours: [sent], bar: `–, ${asked} ${kind}`, unit: 'KiB' }),
      line(`… then Bash echo hi, ${backend}`, { ours: [after], bar: '–' }),
    )
  }
  return rows
}
