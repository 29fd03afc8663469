import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { MARKER } from './child-env.ts'

/** What makes a process id unique: start time in clock ticks since boot; absent where the system does not tell. */
export function processStart(pid: number): string | undefined {
  return stat(pid)?.start
}

/** Whether `pid` is there, and the one that started at `start`. */
export function isSameProcess(pid: number, start: string | undefined): boolean {
  const now = stat(pid)
  if (now) return start !== undefined && now.start === start && now.state !== 'Z'
  return process.platform !== 'linux' && start === undefined && exists(pid)
}

/** Ids of this boot and pid namespace: where they differ, no recorded pid means anything. */
export function machineIds(): { boot: string; namespace: string } {
  return { boot: read('/proc/sys/kernel/random/boot_id').trim(), namespace: namespaceOf() }
}

/** Live processes of a group, zombies excluded. */
export function groupMembers(group: number): number[] {
  if (group <= 1 || !exists(-group)) return []
  if (process.platform !== 'linux') return [group]
  return processIds().filter(pid => {
    const found = stat(pid)
    return found?.group === group && found.state !== 'Z' && found.state !== 'X'
  })
}

/** A process by what makes it unique. */
export interface SeenProcess {
  pid: number
  start: string | undefined
  /** Whether it is in the group that was asked for: a signal to that reaches it. */
  inGroup: boolean
}

/**
 * Live processes of a group, those among `roots`, and all that descend from them: who left the group and cleared its environment
 * is still somebody's child. Where the system does not tell who descends from whom, the group and the roots alone.
 */
export function familyOf(group: number | undefined, roots: readonly number[]): SeenProcess[] {
  const hasGroup = group !== undefined && groupExists(group)
  if (!hasGroup && roots.length === 0) return []
  if (process.platform !== 'linux') {
    return [...(hasGroup ? [group] : []), ...roots].map(pid => ({ pid, start: undefined, inGroup: pid === group }))
  }
  const found = new Map<number, SeenProcess>()
  const children = new Map<number, SeenProcess[]>()
  for (const pid of processIds()) {
    const now = pid === process.pid ? undefined : stat(pid)
    if (now === undefined) continue
    const seen = { pid, start: now.start, inGroup: hasGroup && now.group === group }
    if (seen.inGroup || roots.includes(pid)) found.set(pid, seen)
    const siblings = children.get(now.parent)
    if (siblings) siblings.push(seen)
    else children.set(now.parent, [seen])
  }
  // A map gives what was added while it is walked.
  for (const pid of found.keys()) for (const child of children.get(pid) ?? []) found.set(child.pid, child)
  return [...found.values()].filter(seen => isSameProcess(seen.pid, seen.start))
}

/** Whether anything is left in a group, zombies included: one system call. */
export function groupExists(group: number): boolean {
  return group > 1 && exists(-group)
}

/** Live processes of this user by the run that their environment names. */
export function markedProcesses(): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  if (process.platform !== 'linux') return runs
  for (const pid of processIds()) {
    const run = pid === process.pid ? undefined : variableOf(pid, MARKER)
    if (run === undefined) continue
    const pids = runs.get(run)
    if (pids) pids.push(pid)
    else runs.set(run, [pid])
  }
  return runs
}

/** Sends a signal to a whole group and to single processes; never to process 0, 1 or this one's own group. */
export function signalAll(group: number | undefined, pids: readonly number[], signal: NodeJS.Signals): void {
  if (group !== undefined && group > 1 && group !== process.pid) send(-group, signal)
  for (const pid of pids) if (pid > 1 && pid !== process.pid) send(pid, signal)
}

/** A variable in the environment that a process was started with. */
export function variableOf(pid: number, name: string): string | undefined {
  const environ = read(`/proc/${pid}/environ`)
  const at = environ.startsWith(`${name}=`) ? 0 : environ.indexOf(`\0${name}=`) + 1
  if (at === 0 && !environ.startsWith(`${name}=`)) return undefined
  const end = environ.indexOf('\0', at)
  return environ.slice(at + name.length + 1, end < 0 ? undefined : end)
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter(pid => pid > 1)
  } catch {
    return []
  }
}

function stat(pid: number): { state: string; parent: number; group: number; start: string } | undefined {
  const text = read(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (text === '' || fields.length < 20) return undefined
  return { state: fields[0] as string, parent: Number(fields[1]), group: Number(fields[2]), start: fields[19] as string }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function namespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

function exists(pid: number): boolean {
  return send(pid, 0)
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  // this fails once for each command that left nothing behind: a stack trace would cost more than the call
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  } finally {
    Error.stackTraceLimit = limit
  }
}
