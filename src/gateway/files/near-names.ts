import { readdir, readlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { WorkspaceError } from '../../lib/errors.ts'

const MAX_NAMES = 20_000
/** As many names are shown when none is near. */
const FEW_NAMES = 12

/** The error for a missing path; its hint names what is there instead: similar names, or the part of the path that is missing. */
export async function missing(path: string): Promise<WorkspaceError> {
  const directory = dirname(path)
  const target = await readlink(path).catch(() => undefined)
  if (target !== undefined)
    return new WorkspaceError('not_found', `${path} is a symbolic link that leads nowhere: there is no ${target}.`, {
      hint: 'Write makes the file that it leads to; `ls -l` shows the link.',
    })
  const names = await readdir(directory).catch(() => undefined)
  if (names === undefined) {
    const existing = await nearestDirectory(directory)
    const wanted = path.slice(existing.length).split('/').filter(Boolean)[0] ?? ''
    return new WorkspaceError('not_found', `${path} does not exist: there is no directory ${directory}.`, {
      hint: `The nearest directory that exists is ${existing}.${await insideText(existing, wanted)}`,
    })
  }
  const near = rank(names, basename(path)).map(name => join(directory, name))
  return new WorkspaceError('not_found', `${path} does not exist.`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : contentOf(directory, names),
  })
}

/** What is there instead: by name where that is little. */
function contentOf(directory: string, names: readonly string[]): string {
  if (names.length === 0) return `${directory} is empty.`
  if (names.length <= FEW_NAMES) return `${directory} has: ${[...names].sort().join(', ')}.`
  return `Look for it with Glob; ${directory} has ${names.length} entries.`
}

/** What a directory has that is like `wanted`, else all of it where that is little. */
async function insideText(directory: string, wanted: string): Promise<string> {
  const names = await readdir(directory).catch(() => [])
  const near = rank(names, wanted)
  const shown = near.length === 0 && names.length <= FEW_NAMES ? [...names].sort() : near
  return shown.length === 0 ? '' : ` It has: ${shown.join(', ')}.`
}

async function nearestDirectory(path: string): Promise<string> {
  const parent = dirname(path)
  if (parent === path) return path
  const there = await readdir(parent).then(
    () => true,
    () => false,
  )
  return there ? parent : nearestDirectory(parent)
}

/** The up to three names that are most like `wanted`: same but for case, same stem, few letters apart, or containing it. */
function rank(names: readonly string[], wanted: string): string[] {
  const low = wanted.toLowerCase()
  const stem = low.slice(0, low.length - extname(low).length)
  const scored: { name: string; score: number }[] = []
  for (const name of names.slice(0, MAX_NAMES)) {
    const score = unlikeness(name.toLowerCase(), low, stem)
    if (score !== undefined) scored.push({ name, score })
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
  return scored.slice(0, 3).map(entry => entry.name)
}

function unlikeness(name: string, wanted: string, stem: string): number | undefined {
  if (name === wanted) return 0
  if (stem.length > 1 && name.slice(0, name.length - extname(name).length) === stem) return 1
  if (Math.abs(name.length - wanted.length) <= 3) {
    const apart = distance(name, wanted)
    if (apart <= Math.max(1, Math.floor(wanted.length / 4))) return 1 + apart
  }
  return stem.length > 3 && name.includes(stem) ? 10 : undefined
}
