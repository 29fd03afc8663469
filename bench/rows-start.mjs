import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, watch } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { atelier, DIST } from './clients.mjs'
import { interleave, line, quantile } from './measure.mjs'
import { makePlace, runBare } from './place.mjs'

const bareNode = place => () => runBare(process.execPath, ['-e', '0'], { cwd: place.project, env: place.env })

/** Starts Atelier, takes the time until `body` is through, and waits until nothing of it runs any more. */
async function timed(place, body) {
  const begin = performance.now()
  const client = atelier(place)
  await body(client)
  const time = performance.now() - begin
  await client.end()
  await place.quiet()
  return time
}

/** Start of a stdio server: to its first answers, and to the first command done. */
export async function start() {
  const place = makePlace()
  const times = await interleave(
    {
      node: bareNode(place),
      initialize: () => timed(place, client => client.initialize()),
      list: () => timed(place, client => client.initialize().then(() => client.ask('tools/list', {}))),
      command: () =>
        timed(place, async client => {
          await client.initialize()
          await client.ask('tools/list', {})
          await client.call('Bash', { command: 'true' })
        }),
    },
    { rounds: 21 },
  )
  place.end()
  const row = (name, ours, factor) => {
    const bar = factor === undefined ? '–' : `≤ ${factor} × node -e 0`
    return line(name, { ours, base: times.node, limit: factor && factor * quantile(times.node), bar })
  }
  return [
    row('start to initialize answered', times.initialize, 1.3),
    row('start to first tools/list', times.list, 2.5),
    row('start to first Bash answered', times.command),
  ]
}

/** Start of a gateway's daemon up to the first connection that it takes. */
export async function gateway() {
  const place = makePlace()
  let count = 0
  const ready = async () => {
    const dir = join(place.env.XDG_RUNTIME_DIR, `g${count++}`)
    mkdirSync(dir, { mode: 0o700 })
    const args = [join(DIST, 'gateway.mjs'), 'serve', '--dir', dir, '--workdir', place.project, '--root', place.env.XDG_DATA_HOME]
    const begin = performance.now()
    const child = spawn(process.execPath, args, { cwd: '/', env: place.env, stdio: 'ignore' })
    const gone = new Promise(resolve => child.once('exit', resolve))
    await listening(dir, gone)
    await new Promise((resolve, reject) => {
      const socket = connect(join(dir, 's'), () => resolve(socket.destroy())).once('error', reject)
    })
    const time = performance.now() - begin
    child.kill('SIGKILL')
    await gone
    return time
  }
  const times = await interleave({ node: bareNode(place), ready }, { rounds: 25 })
  place.end()
  const limit = 1.5 * quantile(times.node)
  return [line('gateway ready', { ours: times.ready, base: times.node, limit, bar: '≤ 1.5 × node -e 0' })]
}

function listening(dir, gone) {
  return new Promise((resolve, reject) => {
    const watcher = watch(dir, () => {
      if (!existsSync(join(dir, 's'))) return
      watcher.close()
      resolve()
    })
    gone.then(code => reject(new Error(`the gateway ended with ${code}`)))
  })
}
