import { randomBytes } from 'node:crypto'
import { succeeds } from './clients.mjs'
import { skipped } from './engine.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { runBare } from './place.mjs'
import { farRows, idleRows, requestRows } from './places/distance.mjs'
import { LINES, loadSources, openPlace } from './places/open-place.mjs'
import { pieces } from './places/own-ways.mjs'
import { NESTED_TOOL, nestedLine } from './rows-nested.mjs'

const PODS = ['docker', 'kubernetes']
const FILE_BYTES = 20 * 1024 * 1024

const MEASURES = { echo: echoRows, read: readRows, nested: nestedRows, files: fileRows, create: createRows }

/** Every backend beside the own way of its SDK, on all of them or on those of `ATELIER_BENCH_BACKENDS`, in one run. */
export async function places() {
  const { BACKENDS } = await loadSources()
  const asked = process.env.ATELIER_BENCH_BACKENDS?.split(',') ?? Object.keys(BACKENDS)
  const [rows, open] = [[], []]
  const end = async () => {
    for (const each of open.splice(0).reverse()) await each.end()
  }
  // Containers and Pods would outlive us.
  const stop = () => void end().finally(() => process.exit(1))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
  try {
    // What the others are compared with is always there.
    for (const backend of new Set(['local', ...asked])) {
      const missing = BACKENDS[backend]?.unavailable()
      if (missing !== undefined) rows.push(skipped(backend, missing))
      else open.push(await openPlace(backend))
    }
    for (const [name, measure] of Object.entries(MEASURES)) {
      for (const place of open) rows.push(...(await told(`${name}, ${place.backend}`, () => measure(place))))
    }
    const far = []
    for (const place of open) if (place.wired !== undefined) far.push({ ...place, ...(await place.wired()) })
    rows.push(...(await told('requests', () => requestRows(far))))
    rows.push(...(await told('from afar', () => farRows(open[0], far))))
    rows.push(...(await told('idling', () => idleRows(far))))
    return rows
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop)
    await end()
  }
}

async function told(what, measure) {
  const begin = performance.now()
  const rows = await measure()
  process.stderr.write(`  ${what}: ${((performance.now() - begin) / 1_000).toFixed(0)} s\n`)
  return rows
}

const bash = (client, command = 'echo hi') => succeeds(client.call('Bash', { command }))

async function echoRows({ backend, client, runner, own }) {
  const ours = () => bash(client)
  const sides = { bare: () => runner.spawn('echo hi'), stream: runner.roundTrip, ours }
  const times = await interleave(sides, { rounds: 150, warmUp: 30 })
  const base = times.bare.map((time, at) => time + times.stream[at])
  const limit = 1.5 * (quantile(times.bare) + quantile(times.stream))
  const barred = PODS.includes(backend)
    ? { limit, bar: '≤ 1.5 × (bash -c in there + a round trip)' }
    : { bar: 'beside bash -c in there + a round trip' }
  const rows = [line(`Bash echo hi, ${backend}`, { ours: times.ours, base, ...barred })]
  if (own === undefined) return rows
  const each = await beside(ours, () => own.exec('echo hi'), 12)
  const sixth = PODS.includes(backend)
    ? { limit: quantile(each.base) / 6, bar: '≤ 1/6' }
    : { bar: 'beside the SDK: an exec each' }
  const stream = line(`… a round trip of its stream, ${backend}`, { ours: times.stream, bar: '–' })
  return [...rows, line(`… with an exec each, ${backend}`, { ...each, ...sixth }), stream]
}

async function readRows({ backend, client, own, runner, workdir }) {
  const first = LINES / 2
  const sed = `sed -n '${first},${first + 19}p;${first + 19}q' ${workdir}/lines.txt`
  const ours = () => succeeds(client.call('Read', { file_path: 'lines.txt', offset: first, limit: 20 }))
  const { content } = await ours()
  if (!content[0].text.includes(`${first + 19}: a line`)) throw new Error(`Read gave ${content[0].text}`)
  const times = await beside(ours, () => (own === undefined ? runner.spawn(sed) : own.exec(sed)), 12)
  const bar = own === undefined ? 'beside sed' : 'beside the SDK: an exec of sed'
  return [line(`Read 20 lines of 20 MB, ${backend}`, { ...times, bar })]
}

async function nestedRows({ backend, client, own, runner, place, workdir }) {
  const row = await nestedLine(backend, { place, client, roundTrip: runner.roundTrip })
  if (own === undefined) return [row]
  const times = await beside(
    () => succeeds(client.call(NESTED_TOOL)),
    () => own.exec(oneCall(workdir)),
    10,
  )
  return [row, line(`… with an exec each, ${backend}`, { ...times, bar: 'beside the SDK: the server in an exec' })]
}

/** A command that starts the server, calls its tool once and ends it. */
function oneCall(workdir) {
  const message = (id, method, params = {}) => `'${JSON.stringify({ jsonrpc: '2.0', id, method, params })}'`
  return `printf '%s\\n' ${message(1, 'initialize')} ${message(2, 'tools/call', { name: 'noop' })} | node ${workdir}/noop-server.cjs`
}

async function fileRows({ backend, files, own, workdir }) {
  if (own === undefined) return []
  const bytes = randomBytes(FILE_BYTES)
  const path = `${workdir}/ours`
  const up = await beside(
    () => files.put(path, pieces(bytes)),
    () => own.upload(`${workdir}/own`, bytes),
    5,
  )
  const down = await beside(
    () => files.get(path, () => {}),
    () => own.download(path),
    5,
  )
  // The file rows of Docker have a bar of their own, on 200 MiB.
  const bar = 'beside the SDK'
  return [line(`20 MiB up, ${backend}`, { ...up, bar }), line(`20 MiB down, ${backend}`, { ...down, bar })]
}

async function createRows({ backend, client, own, place }) {
  let count = 0
  const ours = async () => {
    const workspace = `bench${count++}`
    const begin = performance.now()
    await succeeds(client.call('workspace_create', { name: workspace }))
    await succeeds(client.call('Bash', { command: 'true', workspace }))
    const time = performance.now() - begin
    await succeeds(client.call('workspace_delete', { workspace, confirm: true }))
    return time
  }
  const base = async () => {
    const begin = performance.now()
    const remove = await own.create()
    const time = performance.now() - begin
    await remove()
    return time
  }
  const node = () => runBare(process.execPath, ['-e', '0'], { env: place.env })
  const rounds = backend === 'docker' ? 9 : 3
  const times = await interleave({ ours, ...(own && { base }), node }, { rounds, warmUp: 1 })
  const limit = backend === 'docker' ? quantile(times.base) + 2.5 * quantile(times.node) : undefined
  const bar = limit === undefined ? 'beside the SDK' : `≤ the SDK + 2.5 × node -e 0 (${quantile(times.node).toFixed(0)} ms)`
  return [line(`create to first Bash, ${backend}`, { ours: times.ours, base: times.base, limit, bar: own ? bar : '–' })]
}

const beside = (ours, base, rounds) => interleave({ base, ours }, { rounds, warmUp: 1 })
