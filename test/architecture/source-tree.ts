import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A source file: its path from the root, its text, and what it imports. */
export interface SourceFile {
  path: string
  text: string
  /** Imported files of this repository, by path from the root. */
  local: string[]
  /** Everything else that is imported: packages and `node:` modules. */
  external: string[]
}

const IMPORT =
  /(?:^|[\s;}])(?:import|export)\s+(?:type\s+)?(?:[\w$*{][^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/gm

/** Every file under `folder` (from the root) whose name ends with one of `endings`. */
export function filesUnder(folder: string, endings: readonly string[] = ['']): string[] {
  const top = join(ROOT, folder)
  if (!existsSync(top)) return []
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && endings.some(ending => entry.name.endsWith(ending)))
    .map(entry => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter(path => !path.includes('node_modules'))
    .sort()
}

/** Reads `src` once, with its imports resolved. */
export function readSources(): SourceFile[] {
  return filesUnder('src', ['.ts', '.cjs']).map(path => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return { path, text, ...importsOf(path, text) }
  })
}

/** What `text` imports. Strings that only look like imports stand in no file of ours. */
export function importsOf(path: string, text: string): { local: string[]; external: string[] } {
  const found = [...withoutComments(text).matchAll(IMPORT)].map(match => match[1] ?? match[2] ?? '')
  const isLocal = (name: string) => name.startsWith('.')
  return {
    local: found.filter(isLocal).map(name => relative(ROOT, resolve(ROOT, dirname(path), name))),
    external: found.filter(name => !isLocal(name)),
  }
}

/** The code alone, line numbers kept. Strings are left as they are. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, comment => comment.replace(/[^\n]/g, ' ')).replace(/(^|[\s;{}(,])\/\/[^\n]*/g, '$1')
}
