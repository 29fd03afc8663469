import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer, type Call, jsonOf, Refusal, type Route } from './http.ts'
import { LineSplitter } from './line-splitter.ts'

interface CommandRequest {
  command: string
  cwd?: string
  background?: boolean
  /** In ms. */
  timeout?: number
  envs?: Record<string, string>
}

interface Command {
  content: string
  child: ChildProcess
  startedAt: Date
  finishedAt?: Date
  exitCode?: number
  log: Buffer[]
}

/** Output is looked at this often. */
const STEP_MS = 100
const PING_MS = 3_000
/** The answer stays open for this long after its last event. */
const GRACE_MS = milliseconds(process.env.EXECD_API_GRACE_SHUTDOWN ?? '1s')

/** `/command` and `/session`: commands run to their end, their output as lines in an event stream. */
export function createCommandRoutes(): Route[] {
  const commands = new Map<string, Command>()
  const sessions = new Map<string, { cwd: string }>()
  const commandOf = (id = ''): Command => {
    const command = commands.get(id)
    if (command === undefined) throw new Refusal(404, 'CONTEXT_NOT_FOUND', `command ${id} not found`)
    return command
  }
  const sessionOf = (id = ''): { cwd: string } => {
    const session = sessions.get(id)
    if (session === undefined) throw new Refusal(404, 'CONTEXT_NOT_FOUND', `session ${id} not found`)
    return session
  }
  return [
    { method: 'POST', path: /^\/command$/, run: async call => stream(call, commands, await jsonOf(call.request)) },
    {
      method: 'DELETE',
      path: /^\/command$/,
      async run(call) {
        const command = commands.get(call.url.searchParams.get('id') ?? '')
        if (command === undefined) throw new Refusal(500, 'RUNTIME_ERROR', 'error interrupting: no such command')
        kill(command.child, 'SIGTERM')
        answer(call, 200)
      },
    },
    {
      method: 'GET',
      path: /^\/command\/status\/([^/]+)$/,
      async run(call) {
        const { content, startedAt, finishedAt, exitCode } = commandOf(call.parts[0])
        const end = finishedAt === undefined ? {} : { finished_at: finishedAt.toISOString(), exit_code: exitCode }
        answer(call, 200, {
          id: call.parts[0],
          content,
          running: finishedAt === undefined,
          started_at: startedAt.toISOString(),
          ...end,
        })
      },
    },
    {
      method: 'GET',
      path: /^\/command\/([^/]+)\/logs$/,
      async run({ parts, url, response }) {
        const all = Buffer.concat(commandOf(parts[0]).log)
        response.setHeader('EXECD-COMMANDS-TAIL-CURSOR', String(all.length))
        response.end(all.subarray(Number(url.searchParams.get('cursor') ?? 0)))
      },
    },
    {
      method: 'POST',
      path: /^\/session$/,
      async run(call) {
        const id = randomUUID()
        sessions.set(id, { cwd: (await jsonOf<{ cwd?: string }>(call.request)).cwd ?? '/' })
        answer(call, 200, { session_id: id })
      },
    },
    {
      method: 'POST',
      path: /^\/session\/([^/]+)\/run$/,
      async run(call) {
        const session = sessionOf(call.parts[0])
        await stream(call, commands, { ...session, ...(await jsonOf<CommandRequest>(call.request)) })
      },
    },
    {
      method: 'DELETE',
      path: /^\/session\/([^/]+)$/,
      async run(call) {
        sessionOf(call.parts[0])
        sessions.delete(call.parts[0] ?? '')
        answer(call, 200)
      },
    },
  ]
}

/** Runs a command and tells of it; it goes on when the client is gone. */
async function stream({ response }: Call, commands: Map<string, Command>, request: CommandRequest): Promise<void> {
  const { command, cwd = '/', background, envs } = request
  if (!command) throw new Refusal(400, 'INVALID_REQUEST_BODY', 'command is required')
  if (!existsSync(cwd)) throw new Refusal(400, 'INVALID_REQUEST_BODY', `cwd ${cwd} does not exist`)
  const started = Date.now()
  const id = randomUUID().replaceAll('-', '')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (event: object): void => void response.write(`${JSON.stringify({ ...event, timestamp: Date.now() })}\n\n`)
  const env = { ...process.env, ...envs }
  const child = spawn('bash', ['-c', command], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env })
  const entry: Command = { content: command, child, startedAt: new Date(), log: [] }
  commands.set(id, entry)
  say({ type: 'init', text: id })
  const code = follow(entry, request, say)
  const failed = background ? 0 : await code
  if (failed !== 0) {
    const why = failed === -1 ? 'signal: killed' : `exit status ${failed}`
    say({ type: 'error', error: { ename: 'CommandExecError', evalue: String(failed), traceback: [why] } })
  } else say({ type: 'execution_complete', execution_time: Date.now() - started })
  await sleep(GRACE_MS)
  response.end()
}

/** Tells of a command's output, and gives its exit code: -1 for a signal. */
async function follow(entry: Command, request: CommandRequest, say: (event: object) => void): Promise<number> {
  const { child } = entry
  const lines = (['stdout', 'stderr'] as const).map(type => {
    const splitter = new LineSplitter(text => {
      if (!request.background) say({ type, text })
    })
    child[type]?.on('data', (bytes: Buffer) => {
      entry.log.push(bytes)
      splitter.push(bytes)
    })
    return splitter
  })
  const flush = (): void => {
    for (const each of lines) each.flush()
  }
  const steps = setInterval(flush, STEP_MS)
  const pings = setInterval(() => say({ type: 'ping', text: 'pong' }), PING_MS)
  const limit = request.timeout ? setTimeout(() => kill(child, 'SIGKILL'), request.timeout) : undefined
  const code = await new Promise<number>(resolve => {
    child.once('exit', code => resolve(code ?? -1))
    child.once('error', () => resolve(127))
  })
  // What was written before the exit is in the pipes.
  await sleep(5)
  for (const timer of [steps, pings]) clearInterval(timer)
  clearTimeout(limit)
  for (const each of lines) each.end()
  Object.assign(entry, { finishedAt: new Date(), exitCode: code })
  return code
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal)
  } catch {
    // It ended by itself in the meantime.
  }
}

function milliseconds(text: string): number {
  const [, amount = '0', unit = 's'] = /^(\d+)(ms|s)$/.exec(text) ?? []
  return Number(amount) * (unit === 'ms' ? 1 : 1_000)
}
