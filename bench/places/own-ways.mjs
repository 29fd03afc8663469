import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import Dockerode from 'dockerode'
import { execOnce, IMAGE } from '../engine.mjs'
import { runBare } from '../place.mjs'

const KEPT_MS = 900_000
const POLL_MS = 50
const START_MS = 60_000
const CONTAINER = { name: 'workspace', image: IMAGE, imagePullPolicy: 'IfNotPresent', command: ['sleep', '600'] }

/**
 * How the SDK of each service does what we do, in our own environment: `exec` runs one command by one call and gives what it printed,
 * `upload` and `download` carry a file, `create` makes an environment with a first command done and gives its removal.
 */
export const OWN_WAYS = {
  async docker({ details, place }) {
    const docker = new Dockerode()
    const id = details.container
    return {
      exec: command => execOnce(docker.getContainer(id), command),
      upload: (path, bytes) => feedProgram('docker', ['exec', '-i', id, 'sh', '-c', `cat > ${path}`], bytes),
      download: path => runBare('docker', ['exec', id, 'cat', path]),
      async create() {
        const HostConfig = { Init: true, Binds: [`${place.project}:/workspace`] }
        const container = await docker.createContainer({ Image: IMAGE, Cmd: ['sleep', '600'], HostConfig })
        const remove = () => container.remove({ force: true })
        try {
          await container.start()
          await execOnce(container, 'true')
          return remove
        } catch (error) {
          await remove()
          throw error
        }
      },
    }
  },

  async kubernetes({ details: { pod, namespace }, variables }) {
    const k8s = await import('@kubernetes/client-node')
    const config = new k8s.KubeConfig()
    config.loadFromFile(variables.KUBECONFIG)
    const api = config.makeApiClient(k8s.CoreV1Api)
    const run = (name, command, input = null) =>
      new Promise((resolve, reject) => {
        const parts = []
        const output = new Writable({
          write(part, _, done) {
            parts.push(part)
            done()
          },
        })
        const over = ({ status, message }) => (status === 'Success' ? resolve(Buffer.concat(parts)) : reject(new Error(message)))
        const argv = ['/bin/bash', '-c', command]
        new k8s.Exec(config).exec(namespace, name, 'workspace', argv, output, null, input, false, over).catch(reject)
      })
    return {
      exec: async command => (await run(pod, command)).toString(),
      upload: (path, bytes) => run(pod, `cat > ${path}`, Readable.from(pieces(bytes))),
      download: path => run(pod, `cat ${path}`),
      async create() {
        const name = `bare-${randomBytes(4).toString('hex')}`
        const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
        await api.createNamespacedPersistentVolumeClaim({ namespace, body: { metadata: { name }, spec: claim } })
        const mount = { name: 'files', mountPath: '/workspace' }
        const spec = {
          restartPolicy: 'Never',
          containers: [{ ...CONTAINER, volumeMounts: [mount] }],
          volumes: [{ name: 'files', persistentVolumeClaim: { claimName: name } }],
        }
        await api.createNamespacedPod({ namespace, body: { metadata: { name }, spec } })
        const phase = async () => (await api.readNamespacedPod({ namespace, name })).status.phase
        for (const end = Date.now() + START_MS; (await phase()) !== 'Running'; await sleep(POLL_MS)) {
          if (Date.now() > end) throw new Error(`Pod ${name} did not start within ${START_MS} ms`)
        }
        await run(name, 'true')
        return async () => {
          await api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
          await api.deleteNamespacedPersistentVolumeClaim({ namespace, name })
        }
      },
    }
  },

  async e2b({ details, variables }) {
    const { Sandbox } = await import('e2b')
    const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = variables
    const options = { apiKey, apiUrl, sandboxUrl, timeoutMs: KEPT_MS }
    const sandbox = await Sandbox.connect(details.sandbox, options)
    return {
      exec: async command => (await sandbox.commands.run(command)).stdout,
      upload: (path, bytes) => sandbox.files.write(path, new Blob([bytes])),
      download: path => sandbox.files.read(path, { format: 'bytes' }),
      async create() {
        const made = await Sandbox.create('base', options)
        await made.commands.run('true')
        return () => made.kill()
      },
    }
  },

  async daytona({ details, variables }) {
    const { Daytona } = createRequire(import.meta.url)('@daytonaio/sdk')
    const { DAYTONA_API_KEY: apiKey, DAYTONA_API_URL: apiUrl } = variables
    const daytona = new Daytona({ apiKey, apiUrl, useDeprecatedPolling: true, otelEnabled: false })
    const sandbox = await daytona.get(details.id)
    return {
      exec: async command => (await sandbox.process.executeCommand(command)).result,
      upload: (path, bytes) => sandbox.fs.uploadFile(bytes, path),
      download: path => sandbox.fs.downloadFile(path),
      async create() {
        const made = await daytona.create()
        await made.process.executeCommand('true')
        return () => made.delete()
      },
    }
  },

  async opensandbox({ details, variables }) {
    const { ConnectionConfig, Sandbox } = await import('@alibaba-group/opensandbox')
    const { OPEN_SANDBOX_API_KEY: apiKey, OPEN_SANDBOX_DOMAIN: domain } = variables
    const connectionConfig = new ConnectionConfig({ apiKey, domain, disableMetrics: true })
    const sandbox = await Sandbox.connect({ connectionConfig, sandboxId: details.sandbox })
    return {
      exec: async command => (await sandbox.commands.run(command)).logs.stdout.map(({ text }) => text).join('\n'),
      upload: (path, data) => sandbox.files.writeFiles([{ path, data }]),
      download: path => sandbox.files.readBytes(path),
      async create() {
        const made = await Sandbox.create({ connectionConfig, image: IMAGE, timeoutSeconds: KEPT_MS / 1_000 })
        await made.commands.run('true')
        return () => made.kill()
      },
    }
  },
}

/** Bytes in parts of 1 MiB. */
export function* pieces(bytes) {
  for (let at = 0; at < bytes.length; at += 1024 * 1024) yield bytes.subarray(at, at + 1024 * 1024)
}

/** Runs a program to its end with these bytes, or parts of them, as its input. */
export async function feedProgram(command, args, bytes) {
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'] })
  const over = once(child, 'close')
  await pipeline(Readable.from(Buffer.isBuffer(bytes) ? pieces(bytes) : bytes), child.stdin)
  await over
}
