import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DIST } from './clients.mjs'
import { containersOf, dataDirOf, hasImage, IMAGE, removeContainers, skipped, withContainer } from './engine.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { makePlace, runBare } from './place.mjs'
import { feedProgram } from './places/own-ways.mjs'

const FILE_MIB = 200
const OUTPUT = "yes 'a line of output that is as long as lines usually are, or so' | head -c 5000000000"

/** What is measured where there is an engine, and its name where there is none. */
const row = (name, measure) => async () => (hasImage() ? measure() : [skipped(name)])

export const dockerParallel = row('200 Bash at once, docker', () =>
  withContainer(async ({ client, bare }) => {
    const ours = () => Promise.all(Array.from({ length: 200 }, () => client.call('Bash', { command: 'echo hi' })))
    const times = await interleave({ bare: () => bare.results('echo hi', 200), ours }, { rounds: 7, warmUp: 2 })
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
        rawUp: () => feedProgram('docker', ['exec', '-i', id, 'sh', '-c', `cat > ${raw}`], mebibytes()),
        up: () => workspace.files.put(path, mebibytes()),
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

async function* mebibytes() {
  const piece = randomBytes(1024 * 1024)
  for (let i = 0; i < FILE_MIB; i += 1) yield piece
}
