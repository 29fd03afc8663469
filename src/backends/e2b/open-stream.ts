import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { childController, formatMs, onAbort, throwIfAborted } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { type Input, requestInput, streamInput } from './input.ts'
import { LinkStream } from './link-stream.ts'
import type { CommandHandle, CommandStartOpts, Sandbox } from './sdk.ts'
import type { E2bContext } from './service.ts'
import { shellCommand } from './shell.ts'

/** A service that lets the stream of input through does so within this. */
const FIRST_STREAM_MS = 4_000
const START_MS = 30_000
const NEWLINE = 10
const STDERR_PARTS = 16
const STDERR_BYTES = 2_000

/** The shell gives back its first line, and then becomes the program: by then all that was said is known to arrive. */
const ready = (argv: readonly string[]): string => `IFS= read -r go && printf '%s\\n' "$go" && exec ${shellCommand(argv)}`

/**
 * Starts a program and gives its input and output as a stream. Input goes by one ordered request where the service takes that
 * (each stream is tried in full: a line there and back), else by a request for each write.
 */
export async function openStream(
  context: E2bContext,
  sandbox: Sandbox,
  argv: readonly string[],
  options: CallOptions = {},
): Promise<Duplex> {
  const { input, settings, logger } = context
  if (settings.proxy === undefined && input.open) {
    const opened = await attempt(context, sandbox, { argv, by: 'stream', ...options })
    if (typeof opened !== 'string') {
      input.took()
      return opened
    }
    if (opened !== 'ended' && input.failed(opened))
      logger.info({}, 'E2B takes no stream of input here: for a while each write to a sandbox is a request of its own')
  }
  const opened = await attempt(context, sandbox, { argv, by: 'request', ...options })
  if (typeof opened !== 'string') return opened
  throw new WorkspaceError('unavailable', `Sandbox ${sandbox.sandboxId}: a program was not started within ${formatMs(START_MS)}.`)
}

interface Attempt extends CallOptions {
  argv: readonly string[]
  by: 'stream' | 'request'
}

/** Why there is no stream: its input was refused, its first line did not come back in time, or it ended by itself. */
type Refusal = 'refused' | 'late' | 'ended'

async function attempt(context: E2bContext, sandbox: Sandbox, { argv, by, signal }: Attempt): Promise<Duplex | Refusal> {
  throwIfAborted(signal)
  const { user } = context.settings
  const stream = new LinkStream()
  // Its failure is told by who uses it, or by the end of this attempt.
  stream.on('error', () => {})
  const mark = randomBytes(8).toString('hex')
  const marked = waitFor(mark, stream)
  const said: string[] = []
  let encoding: BufferEncoding = 'utf8'
  const handle = await start(sandbox, ready(argv), {
    ...(user === undefined ? {} : { user }),
    signal,
    // The program prints nothing before its first line was written; what a login shell says is dropped.
    onStdout: text => marked.take(Buffer.from(text, encoding)),
    onStderr: text => void (said.push(text) > STDERR_PARTS && said.shift()),
  })
  encoding = takeBytes(handle)
  let why: Refusal = 'ended'
  const broken = (error: Error, answered: boolean): void => {
    if (answered && !stream.destroyed) why = 'refused'
    stream.destroy(error)
  }
  const input = by === 'stream' ? streamInput(sandbox, handle, broken) : requestInput(handle)
  stream.use(handle, input)
  follow(handle, stream, () => complain(context, sandbox, said.join('').slice(-STDERR_BYTES)))
  if (input === undefined) {
    stream.destroy()
    return 'refused'
  }
  const limitMs = by === 'stream' && !context.input.known ? FIRST_STREAM_MS : START_MS
  const came = await comesBack(stream, { input, mark, arrived: marked.arrived, limitMs, signal })
  if (came === 'back') return stream
  stream.destroy()
  return came === 'late' ? came : why
}

/** Starts a command; the signal counts until it runs, since the SDK would cut an open stream by it. */
async function start(
  sandbox: Sandbox,
  command: string,
  { signal, ...options }: Omit<CommandStartOpts, 'signal'> & CallOptions,
): Promise<CommandHandle> {
  const { controller, dispose } = childController(signal)
  try {
    const fixed = { background: true, stdin: true, timeoutMs: 0 } as const
    return await sandbox.commands.run(command, { ...options, ...fixed, signal: controller.signal })
  } finally {
    dispose()
  }
}

/** Lets output through from the line after the mark on. */
function waitFor(mark: string, stream: LinkStream): { take(data: Buffer): Promise<void> | undefined; arrived: Promise<void> } {
  let before: Buffer | undefined = Buffer.alloc(0)
  let arrive: () => void = () => {}
  const arrived = new Promise<void>(resolve => (arrive = resolve))
  return {
    arrived,
    take(data) {
      if (before === undefined) return stream.receive(data)
      before = Buffer.concat([before, data])
      const at = before.indexOf(`${mark}\n`)
      if (at < 0) return undefined
      const rest = before.subarray(before.indexOf(NEWLINE, at) + 1)
      before = undefined
      arrive()
      return rest.length === 0 ? undefined : stream.receive(rest)
    },
  }
}

interface Waiting extends CallOptions {
  input: Input
  mark: string
  arrived: Promise<void>
  limitMs: number
}

async function comesBack(
  stream: LinkStream,
  { input, mark, arrived, limitMs, signal }: Waiting,
): Promise<'back' | 'late' | 'closed'> {
  let timer: NodeJS.Timeout | undefined
  let off = (): void => {}
  const not = new Promise<'late' | 'closed'>((resolve, reject) => {
    timer = setTimeout(() => resolve('late'), limitMs)
    stream.once('close', () => resolve('closed'))
    off = onAbort(signal, reason => {
      stream.destroy()
      reject(reason)
    })
  })
  try {
    input.write(Buffer.from(`${mark}\n`)).catch(() => {})
    return await Promise.race([arrived.then(() => 'back' as const), not])
  } finally {
    clearTimeout(timer)
    off()
  }
}

/** Ends the stream with the process or its connection. */
function follow(handle: CommandHandle, stream: LinkStream, complained: () => void): void {
  handle.wait().then(
    () => stream.finish(),
    (error: Error) => {
      if (error.name === 'CommandExitError') {
        complained()
        stream.finish()
      } else stream.destroy(error)
    },
  )
}

function complain({ logger }: E2bContext, sandbox: Sandbox, said: string): void {
  if (said !== '') logger.warn({ sandbox: sandbox.sandboxId, said }, 'the gateway complained')
}

/** What the SDK reads a command's output with, and where it keeps all of it for the command's whole life, which is a link's. */
interface Inside {
  stdoutDecoder?: { decode(bytes?: Uint8Array): string }
}

/**
 * Makes a handle hand on bytes: as text of one character each (`latin1`), where the SDK can be told, else as it decodes them
 * (`utf8`). It keeps nothing of them.
 */
function takeBytes(handle: CommandHandle): BufferEncoding {
  const nothing = { get: () => '', set() {}, configurable: true }
  for (const name of ['_stdout', '_stderr']) if (name in handle) Object.defineProperty(handle, name, nothing)
  const inside = handle as unknown as Inside
  if (inside.stdoutDecoder === undefined) return 'utf8'
  inside.stdoutDecoder = {
    decode: bytes =>
      bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'),
  }
  return 'latin1'
}
