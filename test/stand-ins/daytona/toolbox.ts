import type { ServerResponse } from 'node:http'
import { HOME } from '../shared/containers.ts'
import type { Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, type Request, sendJson } from '../shared/server.ts'
import { answerFiles } from './files.ts'
import type { Life } from './life.ts'
import type { PtyRequest, Terminals } from './pty.ts'
import { Refusal, type Sandbox, type SandboxData } from './sandbox.ts'
import { environmentOf, loginShell } from './shell.ts'

export interface Toolbox {
  life: Life
  sandboxes: Sandboxes<SandboxData>
  terminals: Terminals
}

export interface ToolboxCall {
  sandbox: Sandbox
  request: Request
  response: ServerResponse
}

/** The program in a sandbox, below `/toolbox/ID`. */
export async function answerToolbox(toolbox: Toolbox, call: ToolboxCall): Promise<void> {
  const { sandbox, request, response } = call
  if (sandbox.data.state !== 'started') throw new Refusal(400, `bad request: sandbox ${sandbox.id} is not started`)
  toolbox.life.touch(sandbox.id)
  const [kind, ...rest] = request.path.split('/').slice(3).map(decodeURIComponent)
  if (kind === 'work-dir' || kind === 'user-home-dir') sendJson(response, 200, { dir: HOME })
  else if (kind === 'version') sendJson(response, 200, { version: 'v0.190.0-stand-in' })
  else if (kind === 'files') await answerFiles(toolbox.sandboxes, call)
  else if (kind === 'process' && rest[0] === 'execute') await execute(toolbox, call)
  else if (kind === 'process' && rest[0] === 'pty') await answerPty(toolbox, { ...call, rest: rest.slice(1) })
  else throw new Refusal(404, `${request.path}: not imitated`)
}

interface ExecuteBody {
  command: string
  /** Seconds. */
  timeout?: number
  cwd?: string
  envs?: Record<string, string>
}

/** One command through the shell's standard input, in a group of its own; both outputs are one text. */
async function execute({ sandboxes }: Toolbox, { sandbox, request, response }: ToolboxCall): Promise<void> {
  const { command, timeout = 0, cwd = HOME, envs = {} } = JSON.parse(await bodyOf(request.message)) as ExecuteBody
  if (command === '' || timeout < 0) throw new Refusal(400, 'bad request: command can not be empty')
  const env = { ...environmentOf(sandbox), ...envs }
  const shell = await loginShell(sandboxes, sandbox.id)
  const argv = ['sh', '-c', 'exec "$0" 2>&1', shell]
  const child = await sandboxes.spawn(sandbox.id, argv, { cwd, env, stdin: true }).catch((error: Error) => error)
  if (child instanceof Error) return sendJson(response, 200, { exitCode: -1, result: child.message })
  let late = false
  const end = (): void => {
    late = true
    void child.signal('SIGKILL', { group: true }).catch(() => {})
  }
  const timer = timeout > 0 ? setTimeout(end, timeout * 1_000) : undefined
  const parts: Buffer[] = []
  const read = (async () => {
    for await (const { data } of child.output as AsyncIterable<{ data: Buffer }>) parts.push(data)
  })()
  await child.write(Buffer.from(`${command}\n`))
  await child.endInput()
  const { code } = await child.exited
  await read
  clearTimeout(timer)
  if (late) throw new Refusal(408, 'command execution timeout')
  sendJson(response, 200, { exitCode: code ?? -1, result: code === null ? '' : Buffer.concat(parts).toString() })
}

async function answerPty(
  { terminals }: Toolbox,
  { sandbox, request, response, rest }: ToolboxCall & { rest: string[] },
): Promise<void> {
  const [ref, verb] = rest
  if (ref === undefined) {
    if (request.method === 'GET') return sendJson(response, 200, { sessions: terminals.list(sandbox.id) })
    const body = JSON.parse(await bodyOf(request.message)) as PtyRequest
    await terminals.create(sandbox, body)
    return sendJson(response, 201, { sessionId: body.id })
  }
  const terminal = terminals.get(sandbox.id, ref)
  if (verb === 'resize') {
    if (terminal === undefined) throw new Refusal(410, `PTY session ${ref} not found`)
    await terminal.resize(JSON.parse(await bodyOf(request.message)) as { cols: number; rows: number })
    return sendJson(response, 200, terminal.info)
  }
  if (terminal === undefined) throw new Refusal(404, `PTY session ${ref} not found`)
  if (request.method === 'DELETE') await terminal.kill()
  sendJson(response, 200, request.method === 'DELETE' ? { message: 'PTY session deleted' } : terminal.info)
}
