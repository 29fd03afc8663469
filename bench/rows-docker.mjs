import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import Dockerode from 'dockerode'
import { atelier, DIST } from './clients.mjs'
import {
  containersOf,
  dataDirOf,
  execOnce,
  hasImage,
  IMAGE,
  IN_DOCKER,
  removeContainers,
  skipped,
  withContainer,
} from './engine.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { makePlace, runBare } from './place.mjs'

const FILE_MIB = 200
const OUTPUT = "yes 'a line of output that is as long as lines usually are, or so' | head -c 5000000000"

/** What is measured where there is an engine, and its name where there is none. */
const row = (name, measure) => async () => (hasImage() ? measure() : [skipped(name)])

export const dockerEcho = row('Bash echo hi, docker', () =>
  withContainer(async ({ client, bare }) => {
    const times = await interleave(
      {
        bare: () => bare.spawn('echo hi'),
        stream: bare.roundTrip,
        ours: () => client.call('Bash', { command: 'echo hi' }),
        exec: () => bare.exec('echo hi'),
      },
      { rounds: 200, warmUp: 50 },
    )
    const base = times.bare.map((time, at) => time + times.stream[at])
    const limit = 1.5 * (quantile(times.bare) + quantile(times.stream))
    return [
      line('Bash echo hi, docker', { ours: times.ours, base, limit, bar: '≤ 1.5 × (bash -c in there + a round trip)' }),
      line('… with an exec each', { ours: times.ours, base: times.exec, limit: quantile(times.exec) / 6, bar: '≤ 1/6' }),
    ]
  }),
)

export const dockerParallel = row('200 Bash at once, docker', () =>
  withContainer(async ({ client, bare }) => {
    const ours = () => Promise.all(Array.from({ length: 200 }, () => client.call('Bash', { command: 'echo hi' })))
    const times = await interleave({ bare: () => bare.spawn('echo hi', 200), ours }, { rounds: 7, warmUp: 2 })
    const limit = 1.3 * quantile(times.bare)
    return [line('200 Bash at once, docker', { ours: times.ours, base: times.bare, limit, bar: '≤ 1.3 × bare in there' })]
  }),
)

export const dockerOutput = row('5 GB of output, docker', () =>
  withContainer(async ({ client, bare }) => {
    const times = await interleave(
      {
        bare: () => bare.spawn(`${OUTPUT} | cat > /dev/null`),
        ours: () => client.call('Bash', { command: OUTPUT, timeout: 300_000 }),
      },
      { rounds: 3, warmUp: 0 },
    )
    const limit = 2 * quantile(times.bare)
    return [line('5 GB of output, docker', { ours: times.ours, base: times.bare, limit, bar: '≥ 0.5 × the speed' })]
  }),
)

/** A file up and down over the link, with `docker exec … cat` of as many bytes. */
export const dockerFiles = row('files, docker', async () => {
  const { DockerWorkspace } = await import(pathToFileURL(join(DIST, 'index.mjs')).href)
  const place = makePlace()
  const workspace = new DockerWorkspace({ image: IMAGE, dataDir: dataDirOf(place) })
  try {
    await workspace.initialize()
    await workspace.shell.run({ command: 'true' })
    const id = containersOf(place)[0]
    const [path, raw] = ['/workspace/ours', '/workspace/raw']
    const times = await interleave(
      {
        rawUp: () => feed(['exec', '-i', id, 'sh', '-c', `cat > ${raw}`]),
        up: () => workspace.files.put(path, pieces()),
        rawDown: () => runBare('docker', ['exec', id, 'cat', path]),
        down: () => workspace.files.get(path, () => {}),
      },
      { rounds: 5, warmUp: 1 },
    )
    const compared = (name, ours, base) =>
      line(name, { ours, base, limit: quantile(base) / 0.4, bar: '≥ 0.4 × the speed of docker exec … cat' })
    return [
      compared(`${FILE_MIB} MiB up, docker`, times.up, times.rawUp),
      compared(`${FILE_MIB} MiB down, docker`, times.down, times.rawDown),
    ]
  } finally {
    await workspace.close()
    removeContainers(place)
    place.end()
  }
})

async function* pieces() {
  const piece = randomBytes(1024 * 1024)
  for (let i = 0; i < FILE_MIB; i += 1) yield piece
}

async function feed(args) {
  const child = spawn('docker', args, { stdio: ['pipe', 'ignore', 'ignore'] })
  const over = once(child, 'close')
  await pipeline(Readable.from(pieces()), child.stdin)
  await over
}

/** A new workspace up to its first command, with a container, its start and one exec, and a start of Node. */
export const dockerCreate = row('create to first Bash, docker', async () => {
  const place = makePlace()
  const client = atelier(place, IN_DOCKER)
  const docker = new Dockerode()
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
  const bare = async () => {
    const begin = performance.now()
    const HostConfig = { Init: true, Binds: [`${place.project}:/workspace`] }
    const container = await docker.createContainer({ Image: IMAGE, Cmd: ['sleep', '600'], HostConfig })
    try {
      await container.start()
      await execOnce(container, 'true')
      return performance.now() - begin
    } finally {
      await container.remove({ force: true })
    }
  }
  try {
    await client.initialize()
    const node = () => runBare(process.execPath, ['-e', '0'], { env: place.env })
    const times = await interleave({ node, bare, ours }, { rounds: 9, warmUp: 1 })
    const limit = quantile(times.bare) + 2.5 * quantile(times.node)
    const bar = `≤ create, start and exec + 2.5 × node -e 0 (${quantile(times.node).toFixed(0)} ms)`
    return [line('create to first Bash, docker', { ours: times.ours, base: times.bare, limit, bar })]
  } finally {
    await client.end()
    removeContainers(place)
    place.end()
  }
})

async function succeeds(call) {
  const result = await call
  if (result.isError) throw new Error(JSON.stringify(result.content))
}
