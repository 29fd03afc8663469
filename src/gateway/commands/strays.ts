import type { JobTable } from './job-table.ts'
import type { RunningCommand } from './running-command.ts'
import type { MarkedProcesses } from './tree-end.ts'

/** So many finished commands are remembered, to name what lives on of them. */
const REMEMBERED = 5000

/** Finds processes that left a command's group and let go of its output, so that nothing was seen of them at its end. */
export class Strays {
  readonly #jobs: JobTable
  readonly #marked: MarkedProcesses
  readonly #finished = new Map<string, Pick<RunningCommand, 'id' | 'command' | 'owner' | 'startedAt'>>()

  constructor(jobs: JobTable, marked: MarkedProcesses) {
    this.#jobs = jobs
    this.#marked = marked
  }

  /** Remembers a command that is over. */
  note(run: RunningCommand): void {
    const { id, command, owner, startedAt } = run
    this.#finished.set(id, { id, command: command.slice(0, 1000), owner, startedAt })
    if (this.#finished.size <= REMEMBERED) return
    const oldest = this.#finished.keys().next().value
    if (oldest !== undefined) this.#finished.delete(oldest)
  }

  /** Makes jobs of what still lives. */
  async find(): Promise<void> {
    if (this.#finished.size === 0) return
    for (const mark of (await this.#marked.all()).keys()) {
      const run = this.#finished.get(mark)
      this.#finished.delete(mark)
      if (run) await this.#jobs.adoptStray(run)
    }
  }

  clear(): void {
    this.#finished.clear()
  }
}
