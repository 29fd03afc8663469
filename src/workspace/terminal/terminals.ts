import type { JobInfo, JobInputParams, JobInputResult, RunParams, RunResult } from '../../gateway/protocol.ts'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { GatewayCalls } from '../environment-link.ts'
import type { JobInput, PortOptions, TerminalView } from '../ports.ts'
import { encodeKeys, keyNames, needScreen } from './keys.ts'
import { LogTails } from './log-tails.ts'
import type { Screen } from './screen.ts'
import { screenOf } from './screen-process.ts'

/** A command in a terminal has shown something by then. */
const FIRST_MS = 1500
/** A terminal that is typed into is looked at when it stands still after something new, at the latest after this. */
const ANSWER_MS = 700
/** A program may ask its terminal so many things, one after the other, before a screen is shown. */
const MAX_REPLIES = 4
const MAX_SIDE = 1000

/** A terminal as it stands, or sentences on why it can't be shown; neither for a job without one. */
export interface Looked {
  terminal?: TerminalView
  notices: string[]
}

type Started = Pick<RunParams, 'session' | 'input'> & Pick<RunResult, 'status' | 'job'>

/** The terminals of a workspace's jobs, as this host sees them: their logs, played. */
export class Terminals {
  readonly #gateway: GatewayCalls
  readonly #logs: LogTails
  readonly #script: string | undefined
  /** Up to which byte of its log a job's questions were answered. */
  readonly #replied = new Map<string, number>()

  /** `script`: path of the program that plays logs; absent: the built one. */
  constructor(gateway: GatewayCalls, script?: string) {
    this.#gateway = gateway
    this.#logs = new LogTails(gateway)
    this.#script = script
  }

  /** The screen of a job; what its program asks the terminal, and waits for, is answered first. */
  async look(of: JobInfo | (() => Promise<JobInfo>), options: PortOptions = {}): Promise<Looked> {
    try {
      const job = typeof of === 'function' ? await of() : of
      if (job.input !== 'pty') return { notices: [] }
      return { terminal: await this.#view(job, options), notices: [] }
    } catch (thrown) {
      options.signal?.throwIfAborted()
      const { message, hint } = toWorkspaceError(thrown)
      return { notices: [[`The screen can't be shown: ${message}`, hint].filter(part => part !== undefined).join(' ')] }
    }
  }

  /** The screen of a command that goes on in its terminal, once something stands on it, and stands still. */
  async first({ session, input, status, job: id }: Started, options: PortOptions): Promise<Looked> {
    if (input !== 'pty' || status !== 'running' || id === undefined) return { notices: [] }
    const until = performance.now() + FIRST_MS
    for (;;) {
      const waitMs = Math.max(0, Math.round(until - performance.now()))
      const read = { id, session, waitMs, headBytes: 0, tailBytes: 0 }
      const looked = await this.look(async () => (await this.#gateway.call('job.read', read, options)).job, options)
      const drawing = looked.terminal?.job.status === 'running' && looked.terminal.screen.lines.length === 0
      if (!drawing || performance.now() >= until) return looked
    }
  }

  /** Sends text and named keys to a job; cursor keys are what the program that runs there expects of them. */
  async send({ keys, ...rest }: JobInput, options: PortOptions = {}): Promise<JobInputResult> {
    const names = keys === undefined ? [] : keyNames(keys)
    // a wrong name is told before anything is sent
    const plain = encodeKeys(names, { applicationCursor: false })
    const sent = needScreen(names) ? encodeKeys(names, await this.#modes(rest.id, options)) : plain
    const params: JobInputParams = { ...rest, ...(sent === '' ? {} : { keys: sent }), waitMs: ANSWER_MS }
    return this.#gateway.call('job.input', params, options)
  }

  async #view(found: JobInfo, options: PortOptions): Promise<TerminalView> {
    let job = found
    for (let replies = 0; ; replies++) {
      const screen = await this.#screen(job, options)
      const asks = screen.replies !== '' && job.status === 'running' && this.#replied.get(job.id) !== job.bytes
      if (job.status !== 'running') this.#replied.delete(job.id)
      if (!asks || replies === MAX_REPLIES) return { job, screen }
      this.#replied.set(job.id, job.bytes)
      job = (await this.#gateway.call('job.input', { id: job.id, keys: screen.replies, waitMs: ANSWER_MS }, options)).job ?? job
    }
  }

  async #screen(job: JobInfo, options: PortOptions): Promise<Screen> {
    const sizes = (job.terminal ?? []).map(({ at, columns, rows }) => ({ at, columns: side(columns), rows: side(rows) }))
    const tail = await this.#logs.read(job, options)
    return screenOf({ ...tail, sizes }, { ...options, script: this.#script })
  }

  async #modes(id: string, options: PortOptions): Promise<{ applicationCursor: boolean }> {
    const { jobs } = await this.#gateway.call('job.list', {}, options)
    const job = jobs.find(each => each.id === id)
    // the gateway says what is wrong with a job that has no terminal
    return job?.input === 'pty' ? await this.#screen(job, options) : { applicationCursor: false }
  }
}

/** What a gateway says of a size is not to be trusted. */
function side(cells: number): number {
  return Number.isInteger(cells) ? Math.min(Math.max(cells, 1), MAX_SIDE) : 1
}
