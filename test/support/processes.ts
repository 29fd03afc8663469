import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A live process and why it belongs to what was asked for. */
export interface FoundProcess {
  pid: number
  command: string
}

const read = (path: string) => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

const cwdOf = (pid: number) => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

/** Whether `pid` runs; a zombie does not. Linux reads `/proc`, others ask by signal 0. */
export function isAlive(pid: number): boolean {
  if (process.platform === 'linux') {
    const stat = read(`/proc/${pid}/stat`)
    return stat !== '' && !/^\d+ \(.*\) [ZX]/s.test(stat)
  }
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Processes whose command line, environment or working directory names `marker`. Linux only: elsewhere none are found. */
export function processesNaming(marker: string): FoundProcess[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter(pid => isAlive(pid))
    .map(pid => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
    .filter(
      ({ pid, command }) =>
        command.includes(marker) || read(`/proc/${pid}/environ`).includes(marker) || cwdOf(pid).startsWith(marker),
    )
}

/** Live processes whose parent is `pid`. Linux only: elsewhere none are found. */
export function childrenOf(pid: number): FoundProcess[] {
  return processesNaming('').filter(child => Number(/\) \w (\d+)/.exec(read(`/proc/${child.pid}/stat`))?.[1]) === pid)
}

/** Waits until `condition` holds, looking every 20 ms; fails with `what` after `ms`. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 30_000): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** Kills one process, and fails where there is none: 0 and negative ids would be whole groups, or everything. */
export function killOne(pid: number | undefined): void {
  if (pid === undefined || !Number.isInteger(pid) || pid < 2) throw new Error(`There is no process ${pid} to kill.`)
  process.kill(pid, 'SIGKILL')
}
