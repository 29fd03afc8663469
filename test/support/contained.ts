import { readdirSync, readFileSync } from 'node:fs'
import { type FoundProcess, isAlive } from './processes.ts'
import type { World } from './world.ts'

/** Processes that see the world's mount, with their ids as seen inside and on this host. */
export function contained(world: World): (FoundProcess & { inside: number })[] {
  const read = (pid: number, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .flatMap(pid => {
      const inside = /^NSpid:\t\d+\t(?:\d+\t)*(\d+)$/m.exec(read(pid, 'status'))?.[1]
      if (inside === undefined || !read(pid, 'mountinfo').includes(` ${world.root} `) || !isAlive(pid)) return []
      return [{ pid, inside: Number(inside), command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }]
    })
}
