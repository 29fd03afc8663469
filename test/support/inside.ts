import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestClient } from './client.ts'
import type { World } from './world.ts'

type Place = { world: World }

/** Contents of a file of the workspace, by its path inside. */
export function fileInside(place: Place, client: TestClient, path: string): Promise<string> {
  return outputInside(place, client, `cat -- ${quoted(path)}`)
}

/** Names in a folder of the workspace, by its path inside, sorted. */
export async function namesInside(place: Place, client: TestClient, path: string): Promise<string[]> {
  const text = await outputInside(place, client, `LC_ALL=C ls -A -- ${quoted(path)}`)
  return text.split('\n').filter(name => name !== '')
}

/** Permissions of a file of the workspace, by its path inside, as octal digits. */
export async function modeInside(place: Place, client: TestClient, path: string): Promise<string> {
  return (await outputInside(place, client, `stat -c %a -- ${quoted(path)}`)).trim()
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** All that a command prints, however much: it goes to a file that this host sees. */
async function outputInside({ world }: Place, client: TestClient, command: string): Promise<string> {
  const file = join(world.root, `output-${randomBytes(4).toString('hex')}`)
  await client.text('Bash', { command: `${command} > ${quoted(file)}` })
  const output = readFileSync(file, 'utf8')
  rmSync(file)
  return output
}
