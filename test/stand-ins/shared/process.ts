import { Readable } from 'node:stream'
import type Dockerode from 'dockerode'
import { AgentConnection, ask } from './agent-client.ts'

export interface Output {
  from: 'stdout' | 'stderr' | 'pty'
  data: Buffer
}

export interface Exit {
  code: number | null
  signal: string | null
}

export interface TerminalSize {
  cols: number
  rows: number
}

export interface SpawnOptions {
  cwd?: string
  env: Record<string, string>
  /** Whether there is a pipe for its input; otherwise it reads from nothing. */
  stdin?: boolean
}

/** A process in a sandbox. It lives on when the stand-in ends. */
export interface SandboxProcess {
  /** As seen inside. */
  readonly pid: number
  /** Object stream in the order of arrival, which must be read; a slow reader holds up the process. */
  readonly output: Readable
  readonly exited: Promise<Exit>
  /** Resolves when the bytes were handed on; never while the process does not read. */
  write(data: Uint8Array): Promise<void>
  endInput(): Promise<void>
  /** Only of a terminal. */
  resize(size: TerminalSize): Promise<void>
  signal(name: string, options?: { group?: boolean }): Promise<void>
  /** Lets go of it. */
  release(): void
}

/** Starts a process with pipes; the first of `argv` that can't be started throws `AgentError` with the system's code. */
export async function spawnInside(socket: string, argv: readonly string[], options: SpawnOptions): Promise<SandboxProcess> {
  return onPipes(socket, await AgentConnection.open(socket, { op: 'spawn', argv, ...options }))
}

/** Takes up a process that was started before: only what it writes from now on is seen. */
export async function attachInside(socket: string, pid: number): Promise<SandboxProcess> {
  return onPipes(socket, await AgentConnection.open(socket, { op: 'attach', pid }))
}

async function onPipes(socket: string, connection: AgentConnection): Promise<SandboxProcess> {
  const { pid } = await connection.answer<{ pid: number }>().catch(error => {
    connection.close()
    throw error
  })
  let exit: (exit: Exit) => void = () => {}
  const exited = new Promise<Exit>(resolve => (exit = resolve))
  const read = async function* (): AsyncGenerator<Output> {
    let last: Exit = { code: null, signal: null }
    for (let frame = await connection.next(); frame !== undefined; frame = await connection.next()) {
      if (frame[0] === 'X') last = JSON.parse(frame[1].toString()) as Exit
      else yield { from: frame[0] === 'E' ? 'stderr' : 'stdout', data: Buffer.from(frame[1]) }
    }
    exit(last)
  }
  return {
    ...{ pid, exited, output: Readable.from(read(), { highWaterMark: 8 }) },
    write: data => connection.send('I', data),
    endInput: () => connection.send('C'),
    async resize() {},
    signal: async (name, { group = false } = {}) => void (await ask(socket, { op: 'signal', pid, signal: name, group })),
    release: () => connection.close(),
  }
}

/** The engine has no way to say a terminal's size before the start. */
const SIZED = 'stty rows "$1" cols "$2"; shift 2; exec "$@"'

/** Starts a process on a terminal of the engine's. */
export async function spawnOnTerminal(
  container: Dockerode.Container,
  argv: readonly string[],
  options: SpawnOptions & { size: TerminalSize; insidePid(hostPid: number): number; agent: string },
): Promise<SandboxProcess> {
  const exec = await container.exec({
    ...{
      Cmd: ['sh', '-c', SIZED, 'sh', String(options.size.rows), String(options.size.cols), ...argv],
      Tty: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    },
    // Some keys end the connection; none of the usual ones may.
    DetachKeys: Array(8).fill('ctrl-_').join(','),
    Env: Object.entries({ TERM: 'xterm', ...options.env }).map(([name, value]) => `${name}=${value}`),
    ...(options.cwd === undefined ? {} : { WorkingDir: options.cwd }),
  })
  const stream = await exec.start({ hijack: true, stdin: true, Tty: true })
  const resize = async ({ cols, rows }: TerminalSize): Promise<void> => void (await exec.resize({ w: cols, h: rows }))
  const pid = options.insidePid(await pidOf(exec))
  let exit: (exit: Exit) => void = () => {}
  const exited = new Promise<Exit>(resolve => (exit = resolve))
  const read = async function* (): AsyncGenerator<Output> {
    try {
      for await (const data of stream as AsyncIterable<Buffer>) yield { from: 'pty', data }
    } catch {
      // A terminal whose process is killed breaks.
    }
    const { ExitCode } = await exec.inspect().catch(() => ({ ExitCode: null }))
    exit({ code: ExitCode, signal: ExitCode !== null && ExitCode > 128 ? `signal ${ExitCode - 128}` : null })
  }
  return {
    ...{ pid, exited, resize, output: Readable.from(read(), { highWaterMark: 8 }) },
    write: data => new Promise(resolve => stream.write(data, () => resolve())),
    endInput: () => new Promise(resolve => stream.write('\u0004', () => resolve())),
    signal: async (name, { group = false } = {}) => void (await ask(options.agent, { op: 'signal', pid, signal: name, group })),
    release: () => void stream.destroy(),
  }
}

/** The number of the process; the engine answers before it is there. */
async function pidOf(exec: Dockerode.Exec): Promise<number> {
  for (let left = 100; left > 0; left -= 1) {
    const { Pid, Running } = await exec.inspect()
    if (Pid !== 0 || !Running) return Pid
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  return 0
}
