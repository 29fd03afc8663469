import { fileURLToPath } from 'node:url'
import type { World } from '../support/world.ts'

/** The soft limit of the commands whose answers are shown, and the time-out of the one that meets it. */
export const SOFT_LIMIT_MS = 1_000
export const TIMEOUT_MS = 500

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Replaces what differs from run to run by what always looks the same: paths, ids, times, sizes of the machine. */
export function normaliser(world: World): (text: string) => string {
  const workspaces = new Names(at => `ws-${'abcdefgh'[at] ?? 'z'}${'a'.repeat(19)}`)
  const jobs = new Names(at => `job${String(at + 1).padStart(7, '0')}`)
  const hex = new Names(at => String(at + 1).padStart(8, '0'))
  return text =>
    text
      .replaceAll(`${world.root}/project`, '/home/me/project')
      .replaceAll(`${world.root}/data`, '/home/me/.local/share')
      .replaceAll(`${world.root}/home`, '/home/me')
      .replaceAll(world.root, '/home/me')
      .replaceAll(REPOSITORY, '/opt/atelier')
      .replaceAll(process.execPath, '/usr/bin/node')
      .replace(/\bws-[a-z2-7]{20}\b/g, id => workspaces.of(id))
      .replace(/(?<=\/workspaces\/[a-z0-9]+\/[a-z]+-)[0-9a-f]{10}\b/g, '0123456789')
      .replace(/(?<=\/roots\/)[0-9a-f]{16}\b/g, '0123456789abcdef')
      .replace(/(?<=\bjobs?[ /]|\bJob |"id": "|^(?:- )?)(?=[a-z0-9]*\d)[0-9a-z]{10}(?=\b[^=])/gm, id => jobs.of(id))
      .replace(/\b[0-9a-f]{32,64}\b/g, id => hex.of(id))
      .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '00000000-0000-4000-8000-000000000000')
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-01-01T00:00:00Z')
      .replace(/\b(exit code \d+|ended by SIG\w+), after [\d.]+ (?:ms|s)\b/g, '$1, after 12 ms')
      // Where a limit ended the wait, that is what it took, and on a busy machine a little more.
      .replace(/\b(still running after) [\d.]+ s\b/g, `$1 ${SOFT_LIMIT_MS / 1_000} s`)
      .replace(/\b(timed out after) [\d.]+ m?s\b/g, `$1 ${TIMEOUT_MS} ms`)
      .replace(/\bpid \d+(?:, \d+)*/g, 'pid 1234')
      .replace(/\b(line \d+: *)\d+ (Segmentation fault)/g, '$11234 $2')
      .replace(/^(memory|disk|cpu): .*$/gm, '$1: (of this machine)')
}

/** Gives each id a name of its own, in the order in which they come. */
class Names {
  readonly #make: (at: number) => string
  readonly #known = new Map<string, string>()

  constructor(make: (at: number) => string) {
    this.#make = make
  }

  of(id: string): string {
    const name = this.#known.get(id) ?? this.#make(this.#known.size)
    this.#known.set(id, name)
    return name
  }
}
