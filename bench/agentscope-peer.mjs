import { spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PACKAGE = 'agentscope==2.0.11'
const PROGRAM = fileURLToPath(new URL('agentscope_peer.py', import.meta.url))
/** Its parts take a few seconds; on a machine that does other work some twenty. It says itself where it hangs, before it is ended. */
const LIMIT_S = 180

/** AgentScope in a virtual environment below `cache`: its Python, or a note when it can't be had. */
export function installAgentscope(cache) {
  const venv = join(cache, 'venv')
  const python = join(venv, 'bin/python')
  const complete = join(venv, 'complete')
  if (existsSync(complete)) return { python }
  const steps = [
    ['python3', '-m', 'venv', '--clear', venv],
    [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', PACKAGE],
    // The first import compiles it, which takes longer than all else.
    [python, '-c', 'import agentscope.mcp, agentscope.workspace'],
  ]
  for (const [command, ...args] of steps) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' })
    if (status !== 0) return { note: `agentscope could not be installed: ${error?.message ?? lastLine(stderr)}` }
  }
  writeFileSync(complete, '')
  return { python }
}

/** Times in ms, by name, of the parts that its local workspace came to the end of, and a note where one is missing. */
export async function measureAgentscope(python, server) {
  const child = spawn(python, [PROGRAM, process.execPath, server, String(LIMIT_S)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const times = {}
  const lines = createInterface({ input: child.stdout }).on('line', line => {
    if (line.startsWith('{')) Object.assign(times, JSON.parse(line))
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => (said = (said + text).slice(-20_000)))
  const timer = setTimeout(() => child.kill('SIGKILL'), (LIMIT_S + 20) * 1_000)
  const [how] = await Promise.all([
    new Promise(resolve => child.once('error', resolve).once('close', (code, signal) => resolve(signal ?? code))),
    new Promise(resolve => lines.once('close', resolve)),
  ])
  clearTimeout(timer)
  if (times.echo && times.nested) return { times }
  const missing = ['echo', 'nested'].filter(name => !times[name])
  return { times, note: `agentscope gave no times of ${missing.join(' and ')}: it ended with ${how}: ${reasonIn(said)}` }
}

/** Where it hung, the innermost call first, or the last that it said. */
function reasonIn(said) {
  const at = said.lastIndexOf('Timeout (')
  if (at === -1) return lastLine(said)
  const lines = said.slice(at).split('\n').slice(0, 5)
  return lines.map(line => line.trim()).join(' ')
}

const lastLine = text => text?.trim().split('\n').at(-1) || 'it said nothing'
