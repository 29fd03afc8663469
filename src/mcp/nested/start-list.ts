import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders } from '../../lib/make-folders.ts'

/** What stands for one way of starting: the same arguments, directory and settings lead to the same servers. */
export interface StartIdentity {
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string | undefined>>
}

/** File in `folder` of the nested tools that such a start may show before anything is loaded. */
export function startListPath(folder: string, { args, cwd, env }: StartIdentity): string {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('ATELIER_'))
  return join(folder, `start-${hash(JSON.stringify([args, cwd, settings.sort()]))}.json`)
}

/** The tools of that file; none where there is none, or it can't be read. */
export function readStartList(path: string): Record<string, unknown>[] {
  try {
    const { tools } = JSON.parse(readFileSync(path, 'utf8')) as { tools: unknown }
    return Array.isArray(tools) ? tools : []
  } catch {
    return []
  }
}

/** Replaces the file. */
export async function writeStartList(path: string, tools: readonly Record<string, unknown>[]): Promise<void> {
  await makeFolders(dirname(path), { mode: 0o700 })
  const part = `${path}.${process.pid}.part`
  await writeFile(part, JSON.stringify({ version: 1, tools }), { mode: 0o600 })
  await rename(part, path)
}

/** 64 bits of FNV-1a, in two halves: a name for a file, without loading Node's cryptography at the start. */
function hash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x1b873593]
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ (code + index), 0x85ebca6b)
  }
  return [a, b].map(half => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
