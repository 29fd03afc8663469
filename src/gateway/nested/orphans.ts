import { randomBytes } from 'node:crypto'
import { isSameProcess, machineIds, processStart } from '../commands/process-tree.ts'
import { endTree, type MarkedProcesses } from '../commands/tree-end.ts'

const PREFIX = 'nested'

/** A new mark for the processes of a nested server, which tells whose they are. */
export function orphanMark(): string {
  const random = randomBytes(5).toString('hex')
  return [PREFIX, process.pid, processStart(process.pid) ?? '', namespace(), random].join('-')
}

/** Ends nested servers whose gateway was killed: nobody can speak with them any more. */
export async function endOrphans(marked: MarkedProcesses): Promise<void> {
  const here = namespace()
  const marks = [...(await marked.all()).keys()].filter(mark => isOrphaned(mark, here))
  await Promise.all(marks.map(mark => endTree({ group: undefined, mark }, marked)))
}

/** Servers in containers are seen from here too; what their gateways are called in there means nothing here. */
function isOrphaned(mark: string, here: string): boolean {
  const [prefix, pid, start, where] = mark.split('-')
  return prefix === PREFIX && where === here && start !== '' && !isSameProcess(Number(pid), start)
}

/** Number of this pid namespace; empty where the system has none. */
function namespace(): string {
  return machineIds().namespace.replace(/\D/g, '')
}
