import { posix } from 'node:path'

/** A path as shown: relative to the workdir when it lies in it, which is shorter and understood by every tool; else as it is. */
export function shownPath(path: string, workdir: string): string {
  const relative = posix.relative(workdir, path)
  if (relative === '') return '.'
  return relative === '..' || relative.startsWith('../') ? path : relative
}
