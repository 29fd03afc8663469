import { randomBytes } from 'node:crypto'
import { isSameProcess, processStart } from '../commands/process-tree.ts'
import { endTree, type MarkedProcesses } from '../commands/tree-end.ts'

const PREFIX = 'nested'

/** A new mark for the processes of a nested server, which tells whose they are. */
export function orphanMark(): string {
  return [PREFIX, process.pid, processStart(process.pid) ?? '', randomBytes(5).toString('hex')].join('-')
}

/** Ends nested servers whose gateway was killed: nobody can speak with them any more. */
export async function endOrphans(marked: MarkedProcesses): Promise<void> {
  const marks = [...(await marked.all()).keys()].filter(isOrphaned)
  await Promise.all(marks.map(mark => endTree({ group: undefined, mark }, marked)))
}

function isOrphaned(mark: string): boolean {
  const [prefix, pid, start] = mark.split('-')
  return prefix === PREFIX && start !== '' && !isSameProcess(Number(pid), start)
}
