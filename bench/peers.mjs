import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installAgentscope, measureAgentscope } from './agentscope-peer.mjs'
import { atelier, stdioClient } from './clients.mjs'
import { interleave, line, table } from './measure.mjs'
import { makePlace, runBare } from './place.mjs'

const CACHE = fileURLToPath(new URL('../node_modules/.cache/atelier-peers/', import.meta.url))
const NPM = ['@modelcontextprotocol/server-filesystem', '@wonderwhy-er/desktop-commander', 'mcp-server-commands']
const NOOP = fileURLToPath(new URL('noop-server.cjs', import.meta.url))

/** Peers that speak MCP: how they start, and their call for `echo hi` or for the first lines of a file. */
const PEERS = [
  {
    name: 'desktop-commander',
    entry: '@wonderwhy-er/desktop-commander/dist/index.js',
    echo: client => client.call('start_process', { command: 'echo hi', timeout_ms: 5_000 }),
    read: (client, path) => client.call('read_file', { path, offset: 0, length: 20 }),
  },
  {
    name: 'mcp-server-commands',
    entry: 'mcp-server-commands/build/index.js',
    // Its one tool has had two names.
    async prepare(client) {
      const { tools } = await client.ask('tools/list', {})
      const isNew = tools.some(tool => tool.name === 'run_process')
      const [name, args] = isNew
        ? ['run_process', { mode: 'shell', command_line: 'echo hi' }]
        : ['run_command', { command: 'echo hi' }]
      return { echo: () => client.call(name, args) }
    },
  },
  {
    name: 'server-filesystem',
    entry: '@modelcontextprotocol/server-filesystem/dist/index.js',
    args: place => [place.project],
    read: (client, path) => client.call('read_text_file', { path, head: 20 }),
  },
]

function installed() {
  mkdirSync(CACHE, { recursive: true })
  if (NPM.every(name => existsSync(join(CACHE, 'node_modules', name)))) return undefined
  const npm = spawnSync(
    'npm',
    ['install', '--prefix', CACHE, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...NPM],
    { encoding: 'utf8' },
  )
  return npm.status === 0 ? undefined : npm.stderr.trim().split('\n').at(-1)
}

/** Measures Atelier and its peers in one run and gives the table. */
export async function measurePeers() {
  const problem = installed()
  if (problem) return `not measured: ${problem}`
  const { python, note: missing } = installAgentscope(CACHE)
  const rows = await measureServers()
  const { rows: more, note = missing } = python === undefined ? { rows: [] } : await measureLibrary(python)
  return `${table([...rows, ...more])}${note === undefined ? '' : `\n\n${note}`}`
}

/** The servers, all side by side. */
async function measureServers() {
  const place = makePlace()
  const path = join(place.project, 'file.txt')
  writeFileSync(path, 'a line of text\n'.repeat(100_000))
  const clients = []
  try {
    const ours = atelier(place)
    await ours.initialize()
    clients.push(ours)
    const echo = {
      'bash -c': () => runBare('/bin/bash', ['-c', 'echo hi'], { cwd: place.project, env: place.env }),
      atelier: () => ours.call('Bash', { command: 'echo hi' }),
    }
    const read = {
      sed: () => runBare('sed', ['-n', '1,20p;20q', path]),
      atelier: () => ours.call('Read', { file_path: path, limit: 20 }),
    }
    for (const peer of PEERS) {
      const program = join(CACHE, 'node_modules', peer.entry)
      const client = stdioClient(process.execPath, [program, ...(peer.args?.(place) ?? [])], {
        cwd: place.project,
        env: place.env,
      })
      clients.push(client)
      await client.initialize()
      const calls = { ...peer, ...(await peer.prepare?.(client)) }
      if (calls.echo) echo[peer.name] = await checked(peer.name, 'hi', () => calls.echo(client))
      if (calls.read) read[peer.name] = await checked(peer.name, 'a line of text', () => calls.read(client, path))
    }
    return await report({
      'echo hi': echo,
      '20 lines of a file': read,
      'nested no-op call': await nestedSides(place, ours, clients),
    })
  } finally {
    for (const client of clients) await client.end()
    place.end()
  }
}

/** A no-op tool of a server spoken to directly, and of the same server nested in ours. */
async function nestedSides(place, ours, clients) {
  const directly = stdioClient(process.execPath, [NOOP], { cwd: place.project, env: place.env })
  clients.push(directly)
  await directly.initialize()
  await ours.call('mcp_add', { name: 'noop', command: process.execPath, args: [NOOP] })
  return {
    direct: () => directly.call('noop'),
    atelier: await checked('atelier', 'done', () => ours.call('mcp__noop__noop')),
  }
}

/** The call, after it was seen once to give what is measured. */
async function checked(peer, wanted, call) {
  const answer = await call()
  const text = JSON.stringify(answer)
  if (answer.isError || !text.includes(wanted)) throw new Error(`${peer} answered ${text.slice(0, 200)}`)
  return call
}

/** A row without a bar. */
const without = (name, sides) => ({ ...line(name, { ...sides, limit: Number.POSITIVE_INFINITY, bar: '–' }), result: '–' })

async function report(sides) {
  const rows = []
  for (const [what, each] of Object.entries(sides)) {
    const times = await interleave(each, { rounds: 20, warmUp: 2 })
    const [base] = Object.values(times)
    for (const [name, ours] of Object.entries(times)) rows.push(without(`${what}: ${name}`, { ours, base }))
  }
  return rows
}

/** AgentScope, which is no server, in a process of its own that measures itself. */
async function measureLibrary(python) {
  const { times, note } = await measureAgentscope(python, NOOP)
  const rows = []
  if (times.echo) rows.push(without('echo hi: agentscope LocalWorkspace', { ours: times.echo, base: times.bare }))
  if (times.nested) rows.push(without('nested no-op call: agentscope LocalWorkspace', { ours: times.nested, base: times.direct }))
  return { rows, note }
}
