import { randomBytes } from 'node:crypto'
import { quote } from '../../gateway/commands/quote.ts'
import { onAbort } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { ExecOptions, ExecResult } from '../backend.ts'
import { MAX_OUTPUT } from '../collect-output.ts'
import { openPty } from './pty.ts'
import type { PtyStream } from './pty-stream.ts'
import type { ExecdPlace } from './sdk.ts'
import type { OpenSandboxContext } from './service.ts'

/** A host that is gone can't hold a command's shell for longer, in s. */
const WAIT_S = 30

/** Bytes up to a mark that comes once. */
class Marked {
  readonly #mark: Buffer
  #all = Buffer.alloc(0)
  #from = 0
  #at = -1

  constructor(mark: string) {
    this.#mark = Buffer.from(mark)
  }

  push(bytes: Buffer): void {
    this.#all = Buffer.concat([this.#all, bytes])
    if (this.#at < 0) this.#at = this.#all.indexOf(this.#mark, this.#from)
    this.#from = Math.max(0, this.#all.length - this.#mark.length)
  }

  get length(): number {
    return this.#all.length
  }

  /** What came before the mark; `undefined` while it has not come. */
  get before(): Buffer | undefined {
    return this.#at < 0 ? undefined : this.#all.subarray(0, this.#at)
  }

  get after(): string {
    return this.#at < 0 ? '' : this.#all.subarray(this.#at + this.#mark.length).toString('latin1')
  }
}

/**
 * Runs a command to its end. An exit can overtake the last output, so its end is said in the output itself, on both streams. Its
 * group is killed on abort (`cancelled`) and at the time limit (`timeout`).
 */
export async function runCommand(
  context: OpenSandboxContext,
  place: ExecdPlace,
  argv: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  const what = argv[0] ?? ''
  const mark = `\n${randomBytes(12).toString('hex')}:`
  const [stdout, stderr] = [new Marked(mark), new Marked(mark)]
  let look = (): void => {}
  const stream = await openPty(context, place, script(argv, mark, options.input), {
    signal: options.signal,
    stderr(bytes) {
      stderr.push(bytes)
      look()
    },
  })
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      look = () => {
        const code = /^(\d+);/.exec(stderr.after)?.[1]
        if (code !== undefined && stdout.before !== undefined) resolve(Number(code))
        else if (stdout.length + stderr.length > MAX_OUTPUT) reject(new WorkspaceError('too_large', `${what}: wrote too much.`))
      }
      drive(stream, { ...options, what, reject }, bytes => {
        stdout.push(bytes)
        look()
      })
    })
    return { exitCode, stdout: stdout.before ?? Buffer.alloc(0), stderr: stderr.before ?? Buffer.alloc(0) }
  } finally {
    stream.destroy()
  }
}

interface Driving extends ExecOptions {
  what: string
  reject(error: Error): void
}

function drive(stream: PtyStream, { what, input, timeoutMs, signal, reject }: Driving, output: (bytes: Buffer) => void): void {
  const late = () => reject(new WorkspaceError('timeout', `${what}: no end after ${timeoutMs} ms.`))
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
  const off = onAbort(signal, () => reject(new WorkspaceError('cancelled', `${what}: cancelled.`)))
  stream.on('data', output)
  stream.once('error', reject)
  stream.once('close', () => {
    clearTimeout(timer)
    off()
    reject(new WorkspaceError('unavailable', `${what}: its shell ended before it said how.`))
  })
  if (input !== undefined && input.length > 0) stream.write(input)
}

/** There is no way to close a session's input: what is meant for the command is counted. */
function script(argv: readonly string[], mark: string, input: Uint8Array | undefined): string {
  const command = argv.map(quote).join(' ')
  const fed = input === undefined || input.length === 0 ? `${command} </dev/null` : `head -c ${input.length} | ${command}`
  const end = quote(mark)
  return `${fed}; code=$?; printf %s ${end}; printf '%s%s;' ${end} "$code" >&2; read -r -t ${WAIT_S} _`
}
