import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/** The `.gitignore` files that count in a directory: its own, and those of the directories above it up to the repository. */
export interface IgnoreRules {
  directory: string
  matcher: Ignore | undefined
  above: IgnoreRules | undefined
}

/** Rules that count in `directory`: `above` is left behind where a repository of its own begins. */
export async function enterDirectory(
  directory: string,
  names: readonly string[],
  above: IgnoreRules | undefined,
): Promise<IgnoreRules | undefined> {
  const outer = names.includes('.git') ? undefined : above
  if (!names.includes('.gitignore')) return outer
  const matcher = await readRules(join(directory, '.gitignore'))
  return matcher === undefined ? outer : { directory, matcher, above: outer }
}

/** Rules of the directories above `directory`, when it lies in a repository. */
export async function rulesAbove(directory: string): Promise<{ inRepository: boolean; rules: IgnoreRules | undefined }> {
  const chain: string[] = []
  let at = directory
  for (; !(await exists(join(at, '.git'))); at = dirname(at)) {
    if (dirname(at) === at) return { inRepository: false, rules: undefined }
    chain.unshift(dirname(at))
  }
  let rules: IgnoreRules | undefined
  for (const parent of chain) {
    const matcher = await readRules(join(parent, '.gitignore'))
    if (matcher !== undefined) rules = { directory: parent, matcher, above: rules }
  }
  return { inRepository: true, rules }
}

/** Whether the nearest rule that says anything about the path ignores it. */
export function isIgnored(rules: IgnoreRules | undefined, path: string, isDirectory: boolean): boolean {
  for (let at = rules; at !== undefined; at = at.above) {
    const relative = path.slice(at.directory === '/' ? 1 : at.directory.length + 1)
    const verdict = at.matcher?.test(isDirectory ? `${relative}/` : relative)
    if (verdict?.ignored) return true
    if (verdict?.unignored) return false
  }
  return false
}

async function readRules(file: string): Promise<Ignore | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : ignore({ ignorecase: false, allowRelativePaths: true }).add(text.replace(/^\ufeff/, ''))
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
