import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atelierHttp } from './clients.mjs'
import { openLink } from './link.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { makePlace, memoryOf, runBare, withClient } from './place.mjs'

const MIB = 1024 * 1024
const IN_A_ROW = 50

export const http = () =>
  withClient(async (place, client) => {
    const server = await atelierHttp(place)
    const session = await server.session()
    const times = await interleave(
      { stdio: () => client.call('workspace_list'), http: () => session.call('workspace_list') },
      { rounds: 300, warmUp: 50 },
    )
    session.end()
    server.end()
    const limit = 1.5 * quantile(times.stdio) + 1
    return [line('no-op tool call over HTTP', { ours: times.http, base: times.stdio, limit, bar: '≤ 1.5 × stdio + 1 ms' })]
  })

/** A spawn as fair as can be: same program, environment and directory, no input, both outputs read to their end. */
const bareEcho = place => () => runBare('/bin/bash', ['-c', 'echo hi'], { cwd: place.project, env: place.env })
const echoHi = client => () => client.call('Bash', { command: 'echo hi' })

export const echo = () =>
  withClient(async (place, client) => {
    const times = await interleave({ bare: bareEcho(place), ours: echoHi(client) }, { rounds: 400, warmUp: 100 })
    const limit = 1.5 * quantile(times.bare)
    const row = await interleave({ bare: inARow(bareEcho(place)), ours: inARow(echoHi(client)) }, { rounds: 9 })
    return [
      line('Bash echo hi', { ours: times.ours, base: times.bare, limit, bar: '≤ 1.5 × bash -c' }),
      line(`${IN_A_ROW} Bash echo hi in a row`, { ours: row.ours, base: row.bare, bar: `beside ${IN_A_ROW} × bash -c` }),
    ]
  })

/** The same again and again with no pause. */
const inARow = run => async () => {
  for (let count = 0; count < IN_A_ROW; count += 1) await run()
}

export const parallel = () =>
  withClient(async (place, client) => {
    const all = run => () => Promise.all(Array.from({ length: 200 }, run))
    const times = await interleave({ bare: all(bareEcho(place)), ours: all(echoHi(client)) }, { rounds: 9, warmUp: 2 })
    const limit = 1.3 * quantile(times.bare)
    return [line('200 Bash at once', { ours: times.ours, base: times.bare, limit, bar: '≤ 1.3 × bare' })]
  })

/** Pings on one link while a file of 200 MB comes over it, and while one goes. */
export async function ping() {
  const place = makePlace()
  const link = await openLink(place)
  try {
    const path = join(place.project, 'large')
    writeFileSync(path, Buffer.alloc(200 * MIB, 'some text of a usual length for a line of code\n'))
    const down = await besides(link, link.call('file.get', { path }, { onChunk() {} }))
    const up = await besides(link, link.call('file.put', { path: `${path}-2` }, { input: pieces(200) }))
    const row = (name, ours) => line(name, { ours, limit: 20, share: 0.95, bar: 'p95 ≤ 20 ms' })
    return [row('ping beside 200 MB down', down), row('ping beside 200 MB up', up)]
  } finally {
    await link.close('end')
    place.end()
  }
}

async function besides(link, transfer) {
  let over = false
  const done = transfer.finally(() => {
    over = true
  })
  done.catch(() => {})
  const times = []
  while (!over) {
    const begin = performance.now()
    await link.call('ping', {})
    times.push(performance.now() - begin)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  await done
  return times
}

async function* pieces(count) {
  const piece = Buffer.alloc(MIB, 'x')
  for (let i = 0; i < count; i += 1) yield piece
}

export async function sessions() {
  const place = makePlace()
  try {
    const server = await atelierHttp(place)
    const open = []
    const add = async count => {
      for (let i = 0; i < count; i += 1) {
        const session = await server.session()
        open.push(session, await session.listen())
      }
    }
    await add(100)
    await server.collect()
    const before = memoryOf(server.pid)
    await add(1_000)
    await server.collect()
    const each = (memoryOf(server.pid) - before) / 1_000 / 1024
    for (const one of open) one.end()
    server.end()
    return [line('an idle HTTP session with its stream', { ours: [each], limit: 60, bar: '≤ 60 KiB', unit: 'KiB' })]
  } finally {
    place.end()
  }
}
