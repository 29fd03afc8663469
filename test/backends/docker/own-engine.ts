import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import Dockerode from 'dockerode'
import { expect } from 'vitest'
import { isAlive, killOne, processesNaming, until } from '../../support/processes.ts'
import { MISSING, OWNER, sh, type World } from './support.ts'
import { importTinyImage, NO_TINY_IMAGE, TINY_IMAGE } from './tiny-image.ts'

/** An engine of a test's own, which it may stop, kill and start again. */
export interface OwnEngine {
  /** Everything that the engine keeps; tests may put their own things there. */
  readonly folder: string
  /** Its unix socket, as `DOCKER_HOST` has it. */
  readonly host: string
  readonly docker: Dockerode
  readonly pid: number | undefined
  /** Starts it and waits until it answers. */
  start(): Promise<void>
  /** Ends it as a service manager does. */
  stop(): Promise<void>
  /** Ends it without a chance to tidy up. */
  kill(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A workspace on an engine elsewhere: commands run in it, and its files are there when it is opened again. */
export async function expectFilesToStay(world: World, id: string): Promise<void> {
  const workspace = await world.open(id)
  await sh(workspace, 'seq 100000 > file')
  expect(await sh(workspace, 'wc -l < file; tail -n 1 file')).toBe('100000\n100000')
  await workspace.close()
  expect(await world.backend().find(id)).toMatchObject({ state: 'suspended', owner: OWNER })
  const again = await world.open(id)
  expect(await sh(again, 'tail -n 1 file')).toBe('100000')
  await again.destroy()
}

/** Whether a program can be started by its name. */
export const hasProgram = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, name)))

/** A port of 127.0.0.1 that nobody has. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Why no engine can be started here; empty where one can. `programs` are needed beside it. */
export function noOwnEngine(...programs: readonly string[]): string {
  if (process.platform !== 'linux') return 'an engine is started on Linux alone'
  if (process.getuid?.() !== 0) return 'an engine is started by root alone'
  const absent = ['dockerd', 'containerd', 'ip', ...programs].find(name => !hasProgram(name))
  if (absent !== undefined) return `there is no ${absent} here`
  return NO_TINY_IMAGE || MISSING
}

/** Title of a suite, with the reason where it is skipped. */
export const titled = (title: string, why: string): string => (why === '' ? title : `${title} (skipped: ${why})`)

/** How an engine comes to be. */
export interface EngineForm {
  /** Makes what it needs; gives what has to run as long as it. */
  prepare(folder: string): ChildProcess[]
  /** The command that starts it, with `args` for `dockerd`. */
  command(folder: string, args: readonly string[]): string[]
  /** Takes away what was prepared. */
  tidy(folder: string): void
}

/** A second engine beside the machine's, with the image `TINY_IMAGE`; `args` are further arguments of `dockerd`. */
export async function startOwnEngine(args: readonly string[] = [], form: EngineForm = BY_ROOT): Promise<OwnEngine> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'at-eng-')))
  // What it runs as somebody else has to come through.
  chmodSync(folder, 0o711)
  const socket = join(folder, 'docker.sock')
  const docker = new Dockerode({ socketPath: socket })
  const companions = form.prepare(folder)
  let daemon: ChildProcess | undefined

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const ending = daemon
    daemon = undefined
    if (ending !== undefined) await endChild(ending, signal)
  }
  const engine: OwnEngine = {
    ...{ folder, docker, host: `unix://${socket}` },
    get pid() {
      return daemon?.pid
    },
    async start() {
      daemon = launch(folder, form.command(folder, args))
      const started = daemon
      await until(async () => {
        if (started.exitCode !== null) throw new Error(`dockerd ended: ${lastLines(join(folder, 'log'))}`)
        return existsSync(socket) && (await docker.ping().then(Boolean, () => false))
      }, 'the engine answers')
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async [Symbol.asyncDispose]() {
      if (daemon !== undefined) await removeContainers(docker)
      await end('SIGTERM')
      for (const companion of companions) await endChild(companion, 'SIGTERM')
      await clear(folder)
      form.tidy(folder)
    },
  }
  try {
    await engine.start()
    await importTinyImage(docker, TINY_IMAGE)
  } catch (error) {
    await engine[Symbol.asyncDispose]()
    throw error
  }
  return engine
}

/** Arguments of `dockerd` that keep it to its folder. */
export const engineArguments = (folder: string): string[] => [
  ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
  ...['-H', `unix://${join(folder, 'docker.sock')}`, '--iptables=false', '--ip-forward=false'],
]

/** As on most machines: by root, with a containerd that is a service of its own and outlives the engine. */
const BY_ROOT: EngineForm = {
  prepare(folder) {
    execFileSync('ip', ['link', 'add', bridgeOf(folder), 'type', 'bridge'])
    const config = join(folder, 'containerd.toml')
    writeFileSync(config, 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
    const places = ['--root', join(folder, 'containerd'), '--state', join(folder, 'containers')]
    return [launch(folder, ['containerd', '--config', config, ...places, '--address', containerdSocket(folder)])]
  },
  command: (folder, args) => [
    ...['dockerd', ...engineArguments(folder), '--containerd', containerdSocket(folder), '--bridge', bridgeOf(folder)],
    ...args,
  ],
  tidy: folder => execFileSync('ip', ['link', 'delete', bridgeOf(folder)]),
}

const containerdSocket = (folder: string): string => join(folder, 'containerd.sock')
/** With `--bridge=none` an engine would take away the bridge of the machine's own. */
const bridgeOf = (folder: string): string => basename(folder)

function launch(folder: string, [program = '', ...args]: readonly string[]): ChildProcess {
  const log = openSync(join(folder, 'log'), 'a')
  try {
    return spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, DOCKER_HOST: '' } })
  } finally {
    closeSync(log)
  }
}

async function endChild(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

async function removeContainers(docker: Dockerode): Promise<void> {
  const containers = await docker.listContainers({ all: true }).catch(() => [])
  for (const { Id } of containers) {
    await docker
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch(() => {})
  }
}

/** Ends what an engine left that was killed, and takes its mounts and files away. */
async function clear(folder: string): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const left = processesNaming(folder)
    if (left.length === 0) break
    for (const { pid } of left) if (isAlive(pid)) killOne(pid)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  for (const path of mountsBelow(folder).reverse()) execFileSync('umount', ['-l', path], { stdio: 'ignore' })
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

function mountsBelow(folder: string): string[] {
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(path => path.startsWith(`${folder}/`))
}

const lastLines = (path: string): string => readFileSync(path, 'utf8').trim().split('\n').slice(-3).join(' ')
