import { createKubernetesBackend } from '../../../src/backends/kubernetes/kubernetes.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { gatewayBoot } from '../../../src/link/boot.ts'
import { DEFAULT_LIMITS } from '../../../src/workspace/limits.ts'
import { openWorkspace } from '../../../src/workspace/workspace.ts'

/** A host for tests that dies at a step of making a workspace, or says `ready` when it is to be killed from outside. */
const [step = '', kubeconfig = '', script = '', image = '', id = '', dataDir = ''] = process.argv.slice(2)
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}
const boot = gatewayBoot(DEFAULT_LIMITS, script)
let boots = 0
let reads = 0
const backend = createKubernetesBackend({
  ...{ dataDir, kubeconfig, image, logger: silentLogger },
  patchPod: pod => (step === 'before the Pod' ? die() : pod),
})
const spec = {
  ...{ id, name: id, owner: { user: 'u', agent: '', session: '' } },
  boot: async (place: Parameters<typeof boot>[0]) => {
    boots += 1
    if (step === 'before the gateway' && boots === 2) die()
    const { files, argv } = await boot(place)
    const [file] = files
    if (step !== 'within the gateway' || file === undefined) return { files, argv }
    const { data } = file
    // Read for its hash first, then to be sent.
    const watched = {
      ...file,
      get data() {
        return ++reads > 1 ? die() : data
      },
    }
    return { files: [watched], argv }
  },
}
if (step === 'while it starts') setTimeout(die, 700)
if (step === 'before the link') {
  await backend.provision(spec)
  die()
}
const workspace = await openWorkspace(backend, spec, {
  ...{ limits: DEFAULT_LIMITS, env: {}, owner: 'test', confine: 'none', goodbye: 'detach', logger: silentLogger },
})
const { job } = await workspace.shell.run({
  session: 's',
  command: 'for i in $(seq 8); do echo tick $i; sleep 1; done',
  background: true,
})
const running = workspace.shell.run(
  { session: 's', command: 'echo begun; sleep 4; echo done' },
  { onOutput: text => text.includes('begun') && process.stdout.write(`${JSON.stringify({ job })}\n`) },
)
await running
