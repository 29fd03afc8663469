import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import Dockerode from 'dockerode'
import { atelier } from './clients.mjs'
import { makePlace } from './place.mjs'
import { askRunner, RUNNER } from './places/runner.mjs'

export const IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'
export const IN_DOCKER = ['--backend', 'docker', '--image', IMAGE]

export function hasImage() {
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The row of what can't be measured here. */
export const skipped = (row, bar = `no image ${IMAGE}`) => ({
  row,
  median: '–',
  p95: '–',
  base: '–',
  ratio: '–',
  bar,
  result: '–',
})

export const dataDirOf = place => join(place.env.XDG_DATA_HOME, 'atelier')

export function containersOf(place) {
  const filter = `label=atelier.data-dir=${dataDirOf(place)}`
  return execFileSync('docker', ['ps', '-aq', '--filter', filter], { encoding: 'utf8' }).split('\n').filter(Boolean)
}

export function removeContainers(place) {
  const ids = containersOf(place)
  if (ids.length > 0) execFileSync('docker', ['rm', '-f', ...ids], { stdio: 'ignore' })
}

/** A program that gives back each line: what one round trip of a stream costs. */
export function rawStream(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })
  return {
    async roundTrip() {
      const back = once(lines, 'line')
      child.stdin.write('x\n')
      await back
    },
    end: () => child.kill(),
  }
}

/** What a container of the engine does without us. */
async function bareContainer(id) {
  const container = new Dockerode().getContainer(id)
  const attached = { AttachStdout: true, AttachStderr: true }
  const runner = await container.exec({ ...attached, Cmd: ['node', '-e', RUNNER], AttachStdin: true })
  const stream = await runner.start({ hijack: true, stdin: true })
  const said = new PassThrough()
  container.modem.demuxStream(stream, said, said)
  return askRunner(stream, said, () => stream.destroy())
}

/** One exec of the engine for one command, to its exit code; gives what it printed. */
export async function execOnce(container, command) {
  const exec = await container.exec({ AttachStdout: true, AttachStderr: true, Cmd: ['/bin/bash', '-c', command] })
  const stream = await exec.start({ hijack: true, stdin: false })
  const printed = new PassThrough()
  container.modem.demuxStream(stream, printed, printed)
  await once(stream, 'close')
  await exec.inspect()
  return printed.read()?.toString() ?? ''
}

/** Runs `body` with a client whose default workspace is a container, and that container without us. */
export async function withContainer(body) {
  const place = makePlace()
  const client = atelier(place, IN_DOCKER)
  let bare
  try {
    await client.initialize()
    await client.call('Bash', { command: 'true' })
    bare = await bareContainer(containersOf(place)[0])
    return await body({ place, client, bare })
  } finally {
    bare?.end()
    await client.end()
    removeContainers(place)
    place.end()
  }
}
