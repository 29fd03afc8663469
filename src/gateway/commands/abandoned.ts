import { createHash } from 'node:crypto'
import { readdirSync, unlinkSync } from 'node:fs'
import { isSameProcess, machineIds, processStart, variableOf } from './process-tree.ts'
import { endTree, type MarkedProcesses } from './tree-end.ts'

/** The variable that tells which gateway started a process. */
export const GATEWAY = 'ATELIER_GATEWAY'

/** What the commands of this process carry in `GATEWAY`: the process, and the place that it serves. */
export function gatewayMark(runtimeDir: string): string {
  return [process.pid, processStart(process.pid) ?? '', placeOf(runtimeDir)].join('-')
}

/**
 * Ends commands of a gateway that was killed in this place: nobody can read them any more. Those that a job names go on. Gives
 * how many there were.
 */
export async function endAbandoned(
  marked: MarkedProcesses,
  { runtimeDir, isJob }: { runtimeDir: string; isJob(run: string): boolean },
): Promise<number> {
  const place = placeOf(runtimeDir)
  const abandoned: string[] = []
  for (const [run, pids] of await marked.all()) {
    if (!isJob(run) && pids.some(pid => isAbandoned(variableOf(pid, GATEWAY), place))) abandoned.push(run)
  }
  await Promise.all(abandoned.map(mark => endTree({ group: undefined, mark }, marked)))
  return abandoned.length
}

/** Removes pipes, dumps and texts that dead gateways left in the runtime directory: a dump may hold exported secrets. */
export function removeLeftFiles(runtimeDir: string): void {
  for (const name of namesIn(runtimeDir)) {
    const pid = Number(/^[pdtr](\d+)-/.exec(name)?.[1] ?? process.pid)
    if (pid !== process.pid && processStart(pid) === undefined) remove(`${runtimeDir}/${name}`)
  }
}

function isAbandoned(mark: string | undefined, place: string): boolean {
  const [pid, start, where] = (mark ?? '').split('-')
  return where === place && start !== '' && !isSameProcess(Number(pid), start)
}

/** Containers have the same directories, and their processes may be seen from outside: the pid namespace tells them apart. */
function placeOf(runtimeDir: string): string {
  const place = `${machineIds().namespace} ${runtimeDir}`
  return createHash('sha256').update(place).digest('hex').slice(0, 16)
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // another start was first
  }
}
