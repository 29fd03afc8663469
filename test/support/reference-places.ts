import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nestedName } from '../../src/mcp/nested/names.ts'
import { FullClient } from './full-client.ts'
import type { Reference } from './reference-scenarios.ts'
import { LOADER } from './server.ts'
import type { World } from './world.ts'

/** The folder of the reference server, and its program. */
const REFERENCE = fileURLToPath(new URL('reference-server', import.meta.url))
const MAIN = join(REFERENCE, 'main.mjs')
const SERVER = 'ref'

/** The reference server without anything between. */
export async function direct(world: World): Promise<Reference> {
  const client = new FullClient({ command: process.execPath, args: [MAIN], env: world.env, cwd: world.project })
  world.onDispose(() => client.close())
  await client.initialize()
  return { client, name: own => own }
}

/** The reference server behind Atelier on a backend, added by the client itself. */
export async function nested(
  world: World,
  backend: string,
  given: { args?: string[]; env?: Record<string, string> } = {},
): Promise<Reference> {
  const args = [
    LOADER,
    '--backend',
    backend,
    ...(backend === 'local' ? ['--directory', world.project] : []),
    ...(given.args ?? []),
  ]
  const client = new FullClient({
    command: process.execPath,
    args,
    env: { ...world.env, ATELIER_LOG_LEVEL: 'warn', ...given.env },
    cwd: world.project,
  })
  world.onDispose(() => client.close())
  await client.initialize()
  const call = async (name: string, given: Record<string, unknown>) => {
    const { result, error } = await client.request('tools/call', { name, arguments: given })
    if (error !== undefined || result?.isError !== undefined) throw new Error(`${name}: ${JSON.stringify(error ?? result)}`)
  }
  await call('mcp_add', { name: SERVER, ...(await placed(backend, call)) })
  return { client, name: own => nestedName(SERVER, own) }
}

/** How the server is started in a workspace of a backend; its files are put there where they are not. */
export async function placed(
  backend: string,
  call: (tool: string, args: Record<string, unknown>) => Promise<unknown>,
): Promise<{ command: string; args: string[] }> {
  if (backend === 'local') return { command: process.execPath, args: [MAIN] }
  for (const file of readdirSync(REFERENCE)) {
    await call('Write', { file_path: `reference-server/${file}`, content: readFileSync(join(REFERENCE, file), 'utf8') })
  }
  return { command: 'node', args: ['reference-server/main.mjs'] }
}

/** Removes the containers that this world's servers made. */
export function removeContainers(world: World): void {
  const label = `label=atelier.data-dir=${join(world.env.XDG_DATA_HOME ?? '', 'atelier')}`
  const ids = execFileSync('docker', ['ps', '-aq', '--filter', label], { encoding: 'utf8' }).split('\n').filter(Boolean)
  if (ids.length > 0) execFileSync('docker', ['rm', '-f', ...ids], { stdio: 'pipe' })
}

/** The image to run in, or why there is no engine to run it. */
export function dockerImage(): { image: string } | { reason: string } {
  const image = process.env.ATELIER_TEST_IMAGE ?? 'atelier-base:latest'
  try {
    execFileSync('docker', ['image', 'inspect', image], { stdio: 'pipe' })
    return { image }
  } catch (error) {
    return {
      reason: `no Docker engine with the image ${image}: ${
        String((error as Error).message)
          .split('\n')
          .at(-2) ?? error
      }`,
    }
  }
}
