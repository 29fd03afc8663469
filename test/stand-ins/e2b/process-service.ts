import type { ServerResponse } from 'node:http'
import type { TerminalSize } from '../shared/process.ts'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, type Request, sendJson } from '../shared/server.ts'
import { AnswerStream, RpcError, readMessages } from './connect-protocol.ts'
import type { ProcessConfig, ProcessEvent, Processes, Running } from './processes.ts'
import type { SandboxData } from './sandbox.ts'

interface Selector {
  process: { pid: number }
}

interface Input {
  stdin?: string
  pty?: string
}

interface Service {
  sandboxes: Sandboxes<SandboxData>
  processes: Processes
}

interface Call {
  id: string
  user: string
  request: Request
  response: ServerResponse
}

/** `process.Process` of envd. */
export async function answerProcess(service: Service, name: string, call: Call): Promise<void> {
  if (name === 'Start') return start(service, call)
  if (name === 'Connect') return connect(service, call)
  if (name === 'StreamInput') return streamInput(service, call)
  const body = JSON.parse(await bodyOf(call.request.message)) as Selector
  sendJson(call.response, 200, (await unary(service, name, { id: call.id, body })) ?? {})
}

async function unary(
  { sandboxes, processes }: Service,
  name: string,
  { id, body }: { id: string; body: Selector },
): Promise<unknown> {
  if (name === 'List') {
    const found = await sandboxes.processes(id)
    const config = ({ argv, cwd }: { argv: string[]; cwd?: string }) => ({
      cmd: argv[0],
      args: argv.slice(1),
      ...(cwd && { cwd }),
    })
    return found.length === 0 ? {} : { processes: found.map(each => ({ config: config(each), pid: each.pid })) }
  }
  const running = await processes.get(id, body.process.pid)
  if (name === 'SendInput') return give(running, (body as unknown as { input: Input }).input)
  if (name === 'CloseStdin') return running.process.endInput()
  if (name === 'SendSignal') {
    const { signal } = body as unknown as { signal: string }
    return running.process.signal(signal === 'SIGNAL_SIGTERM' ? 'SIGTERM' : 'SIGKILL')
  }
  if (name === 'Update') return running.process.resize((body as unknown as { pty: { size: TerminalSize } }).pty.size)
  throw new RpcError('unimplemented', `process.Process/${name}`)
}

/** Waits, as long as that takes, until the process has room for it. */
async function give({ process }: Running, { stdin, pty }: Input): Promise<void> {
  await process.write(Buffer.from(stdin ?? pty ?? '', 'base64'))
}

async function first<T>({ message }: Request): Promise<T> {
  for await (const value of readMessages(message)) return value as T
  throw new RpcError('invalid_argument', 'no message')
}

async function start({ processes }: Service, call: Call): Promise<void> {
  const { id, user, request, response } = call
  type Body = { process: ProcessConfig; stdin?: boolean; pty?: { size: TerminalSize } }
  const body = await first<Body>(request)
  const stream = new AnswerStream(response)
  try {
    const { promise, listener } = listen(call, stream)
    const size = body.pty === undefined ? {} : { size: body.pty.size }
    const options = { stdin: body.stdin ?? false, user, subscriber: listener, ...size }
    const running = await processes.start(id, body.process, options)
    await untilOver(call, { running, stream, promise, listener })
  } catch (error) {
    stream.end(error instanceof RpcError ? error : new RpcError('internal', (error as Error).message))
  }
}

async function connect({ processes }: Service, call: Call): Promise<void> {
  const { process } = await first<Selector>(call.request)
  const stream = new AnswerStream(call.response)
  try {
    const running = await processes.get(call.id, process.pid)
    await stream.send({ event: { start: { pid: process.pid } } })
    if (running.over !== undefined) {
      await stream.send({ event: running.over })
      return stream.end()
    }
    const { promise, listener } = listen(call, stream)
    running.subscribers.add(listener)
    await untilOver(call, { running, stream, promise, listener })
  } catch (error) {
    stream.end(error instanceof RpcError ? error : new RpcError('internal', (error as Error).message))
  }
}

/** Sends events on; the promise is kept when the last was sent, or the client has gone. */
function listen(
  { response }: Call,
  stream: AnswerStream,
): { promise: Promise<void>; listener: (event: ProcessEvent) => Promise<void> } {
  let done: () => void = () => {}
  const promise = new Promise<void>(resolve => (done = resolve))
  response.once('close', done)
  return {
    promise,
    async listener(event) {
      await stream.send({ event })
      if ('end' in event) done()
    },
  }
}

interface Following {
  running: Running
  stream: AnswerStream
  promise: Promise<void>
  listener: (event: ProcessEvent) => Promise<void>
}

async function untilOver({ request, response }: Call, { running, stream, promise, listener }: Following): Promise<void> {
  const { headers } = request.message
  const every = Number(headers['keepalive-ping-interval'] ?? 90) * 1_000
  const beat = setInterval(() => void stream.send({ event: { keepalive: {} } }), every)
  const limit = Number(headers['connect-timeout-ms'] ?? 0)
  const late = new RpcError('deadline_exceeded', 'context deadline exceeded')
  const timer = limit === 0 ? undefined : setTimeout(() => expire(), limit)
  const expire = (): void => {
    // The leader alone, and only of who started it does that matter; children stay.
    void running.process.signal('SIGKILL').catch(() => {})
    stream.end(late)
  }
  await promise
  clearInterval(beat)
  clearTimeout(timer)
  running.subscribers.delete(listener)
  if (!response.destroyed) stream.end()
}

/** Input in the order of a request's body, which may be without an end. */
async function streamInput({ processes }: Service, { id, request, response }: Call): Promise<void> {
  let running: Running | undefined
  const stream = () => new AnswerStream(response)
  try {
    for await (const message of readMessages(request.message)) {
      const { start: begin, data } = message as { start?: Selector; data?: { input: Input } }
      if (begin !== undefined) running = await processes.get(id, begin.process.pid)
      else if (data !== undefined && running !== undefined) await give(running, data.input)
    }
    const answer = stream()
    await answer.send({})
    answer.end()
  } catch (error) {
    if (!response.destroyed) stream().end(error instanceof RpcError ? error : new RpcError('internal', (error as Error).message))
  }
}
