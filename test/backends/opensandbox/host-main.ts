import { createOpenSandboxBackend } from '../../../src/backends/opensandbox/opensandbox.ts'
import { silentLogger } from '../../../src/lib/log.ts'

/** A host of its own: provisions a workspace, writes a file of its own, and says which sandbox it was given. */
const { settings, id, name } = JSON.parse(process.argv[2] ?? '{}') as {
  settings: Parameters<typeof createOpenSandboxBackend>[0]
  id: string
  name: string
}
const backend = createOpenSandboxBackend({ ...settings, logger: silentLogger })
const environment = await backend.provision({ id, name: id, owner: { user: 'u', agent: '', session: '' } })
const { exitCode } = await environment.exec(['sh', '-c', `echo "$1" > "/workspace/$1"`, 'sh', name])
process.stdout.write(`${JSON.stringify({ sandbox: environment.info.incarnation, exitCode })}\n`)
