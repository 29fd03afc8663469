import { execFileSync } from 'node:child_process'
import { isInstalled } from './server.ts'

/** The image that sandboxes and execd are made of. */
export const BASE_IMAGE = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'

let missing: string | undefined | null = null

/** Why no server can be started here; `undefined` where one can. */
export function whatIsMissing(): string | undefined {
  if (missing === null) missing = look()
  return missing
}

function look(): string | undefined {
  if (process.platform !== 'linux') return 'the tests look at processes in containers from a Linux host'
  if (!isInstalled()) return 'the OpenSandbox server is not installed: test/stand-ins/opensandbox/install.sh'
  try {
    execFileSync('docker', ['image', 'inspect', BASE_IMAGE], { stdio: ['ignore', 'ignore', 'pipe'] })
    return undefined
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? error).trim()
    return `no container engine with the image ${BASE_IMAGE}: ${said.split('\n').at(-1)}`
  }
}
