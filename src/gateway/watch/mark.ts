import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { errno } from '../files/fs-error.ts'

/** What tells two states of a path apart: of a file its content and metadata, of a directory the names in it. */
export async function markOf(path: string): Promise<string> {
  try {
    return markFrom(await stat(path, { bigint: true }))
  } catch (error) {
    return errno(error) ?? 'unreadable'
  }
}

function markFrom(found: BigIntStats): string {
  const { size, mtimeNs, ctimeNs } = found
  return [thingOf(found), ...(found.isDirectory() ? [mtimeNs] : [size, mtimeNs, ctimeNs])].join(':')
}

/** Tells one file or directory from another: numbers of inodes are used again at once, times of birth are not. */
export function thingOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return [dev, ino, birthtimeNs].join(':')
}

/** Whether two marks are those of one file or directory; a path may come to mean another. */
export function isSameThing(one: string, other: string): boolean {
  const thing = (mark: string): string => mark.split(':', 3).join(':')
  return isThere(one) && thing(one) === thing(other)
}

/** Whether a mark is that of something that is there. */
export function isThere(mark: string): boolean {
  return mark.includes(':')
}
