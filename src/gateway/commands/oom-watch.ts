import { readFileSync } from 'node:fs'

/** Tells whether the kernel killed for want of memory in this process's control group. */
export class OomWatch {
  #path: string | undefined | null
  #last = 0

  /** Remembers the count as it is now. */
  begin(): void {
    this.#last = this.#count()
  }

  /** A sentence where processes were killed since the last look; nothing otherwise. */
  notice(): string | undefined {
    const before = this.#last
    this.#last = this.#count()
    const killed = this.#last - before
    if (killed <= 0) return undefined
    return `Out of memory: the memory limit of this environment was reached and the kernel killed ${killed === 1 ? 'a process' : `${killed} processes`}.`
  }

  #count(): number {
    if (this.#path === undefined) this.#path = counterFiles().find(path => read(path) !== undefined) ?? null
    const text = this.#path === null ? undefined : read(this.#path)
    return Number(/^oom_kill (\d+)$/m.exec(text ?? '')?.[1] ?? 0)
  }
}

/** Where the count may stand: cgroup v2 and v1, by this process's own path and as seen inside a container. */
function counterFiles(): string[] {
  const files: string[] = []
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, controllers, path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === '') files.push(`/sys/fs/cgroup${path}/memory.events`, '/sys/fs/cgroup/memory.events')
    if (controllers === 'memory')
      files.push(`/sys/fs/cgroup/memory${path}/memory.oom_control`, '/sys/fs/cgroup/memory/memory.oom_control')
  }
  return files
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
