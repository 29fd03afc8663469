import { isAbsolute, join, resolve, sep } from 'node:path'

/** Whether `path` is `root` or lies under it. Both are absolute; a root that ends with a separator (`/`) is understood. */
export function contains(root: string, path: string): boolean {
  if (path === root) return true
  return path.startsWith(root.endsWith(sep) ? root : root + sep)
}

/** `~` and `~/x` with the home directory filled in; anything else, and everything when there is no home, unchanged. */
export function expandHome(path: string, home: string | undefined): string {
  if (home === undefined || home === '') return path
  if (path === '~') return home
  return path.startsWith('~/') ? join(home, path.slice(2)) : path
}

/** An absolute, lexically normal path: relative ones resolve against `base`, `~` against `home`. */
export function absolutePath(path: string, base: string, home?: string): string {
  const expanded = expandHome(path, home)
  return isAbsolute(expanded) ? resolve(expanded) : resolve(base, expanded)
}
