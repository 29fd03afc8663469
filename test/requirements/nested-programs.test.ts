import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bearerProxy } from '../support/bearer-proxy.ts'
import { connect, type TestClient } from '../support/client.ts'
import { nodeOf, npmTool } from '../support/npm-tool.ts'
import { until } from '../support/processes.ts'
import { dockerImage, placed, removeContainers } from '../support/reference-places.ts'
import { createWorld, type World } from '../support/world.ts'

const INSTALL_MS = 400_000
const START_MS = 60_000
const PYTHON = fileURLToPath(new URL('../../node_modules/.cache/atelier-tools/mcp-python', import.meta.url))

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.dispose(), START_MS)

async function run(command: string, args: readonly string[]): Promise<{ code: number; text: string }> {
  const child = spawn(command, args, { cwd: world.root, env: world.env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', chunk => (text += chunk))
  child.stderr.on('data', chunk => (text += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? -1, text }
}

describe('the conformance suite passes against the reference server through Atelier', () => {
  it.for(['local', 'docker'])('on %s', { timeout: INSTALL_MS }, async (backend, context) => {
    const tool = npmTool('conformance', ['@modelcontextprotocol/conformance@0.1.16', 'node@22'])
    if ('reason' in tool) return context.skip(tool.reason)
    const docker = backend === 'docker' ? dockerImage() : undefined
    if (docker !== undefined && 'reason' in docker) return context.skip(docker.reason)
    const args = docker === undefined ? [] : ['--backend', 'docker', '--image', docker.image]
    // What is registered first comes last: no server is left that could make the container again.
    if (docker !== undefined) world.onDispose(() => removeContainers(world))
    const client = await connect(world, 'http', { args })
    await client.text('mcp_add', {
      name: 'ref',
      expose: 'bare',
      ...(await placed(backend, (name, given) => client.text(name, given))),
    })
    const proxy = await bearerProxy(client.http!)
    const program = join(tool.folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
    const result = await run(nodeOf(tool.folder), [program, 'server', '--url', proxy.url, '--suite', 'all'])
    proxy.close()
    expect(result.code, result.text.slice(-8_000)).toBe(0)
    expect(result.text).toMatch(/Total: \d+ passed, 0 failed/)
  })
})

/** Declares servers for every workspace of this world, and connects. */
async function withServers(mcpServers: Record<string, object>): Promise<TestClient> {
  writeFileSync(join(world.project, 'atelier.config.json'), JSON.stringify({ mcpServers }))
  const client = await connect(world, 'stdio')
  const wanted = Object.keys(mcpServers)
  await until(
    async () => {
      const { tools } = await client.client.listTools()
      return wanted.every(name => tools.some(tool => tool.name.startsWith(`mcp__${name}__`)))
    },
    `tools of ${wanted.join(', ')}; mcp_list says:\n${await client.text('mcp_list')}`,
    START_MS,
  )
  return client
}

describe('servers from npm', () => {
  it('run nested', { timeout: INSTALL_MS }, async context => {
    const packages = ['everything', 'filesystem', 'memory', 'sequential-thinking'].map(
      name => `@modelcontextprotocol/server-${name}`,
    )
    const tool = npmTool('mcp-servers', packages)
    if ('reason' in tool) return context.skip(tool.reason)
    const bin = (name: string) => join(tool.folder, 'node_modules/.bin', `mcp-server-${name}`)
    const client = await withServers({
      everything: { command: bin('everything') },
      files: { command: bin('filesystem'), args: [world.project] },
      memory: { command: bin('memory'), env: { MEMORY_FILE_PATH: join(world.root, 'memory.jsonl') } },
      thinking: { command: bin('sequential-thinking') },
    })
    expect(await client.text('mcp__everything__echo', { message: 'across' })).toContain('across')
    await client.text('mcp__files__write_file', { path: join(world.project, 'note.txt'), content: 'by a nested server' })
    expect(await client.text('Read', { file_path: 'note.txt' })).toContain('by a nested server')
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes engines'] }]
    await client.text('mcp__memory__create_entities', { entities })
    expect(await client.text('mcp_call', { server: 'memory', tool: 'read_graph', arguments: {} })).toContain('likes engines')
    const thought = { thought: 'First.', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }
    expect(await client.text('mcp__thinking__sequentialthinking', thought)).toContain('thoughtNumber')
    const { resources } = await client.client.listResources()
    expect(resources.length).toBeGreaterThan(3)
    expect((await client.client.listPrompts()).prompts.some(({ name }) => name.startsWith('mcp__everything__'))).toBe(true)
  })
})

describe('a browser', () => {
  it('is driven by a nested server', { timeout: INSTALL_MS }, async context => {
    const chromium = ['chromium', 'chromium-browser']
      .flatMap(name => (process.env.PATH ?? '').split(':').map(folder => join(folder, name)))
      .find(existsSync)
    if (chromium === undefined) return context.skip('no chromium on the PATH')
    const tool = npmTool('mcp-playwright', ['@playwright/mcp'])
    if ('reason' in tool) return context.skip(tool.reason)
    const args = ['--headless', '--isolated', '--no-sandbox', '--executable-path', chromium]
    const client = await withServers({ browser: { command: join(tool.folder, 'node_modules/.bin/playwright-mcp'), args } })
    const url = `data:text/html,${encodeURIComponent('<title>Shown</title><h1>by a nested browser</h1>')}`
    expect(await client.text('mcp__browser__browser_navigate', { url })).toContain('Shown')
    expect(await client.text('mcp__browser__browser_snapshot')).toContain('by a nested browser')
    await client.text('mcp_remove', { name: 'browser' })
  })
})

describe('servers from PyPI', () => {
  it('run nested', { timeout: INSTALL_MS }, async context => {
    const reason = installPython()
    if (reason !== undefined) return context.skip(reason)
    expect((await run('git', ['init', '-q', world.project])).code).toBe(0)
    const client = await withServers({
      git: { command: join(PYTHON, 'bin/mcp-server-git'), args: ['--repository', world.project] },
      time: { command: join(PYTHON, 'bin/mcp-server-time'), args: ['--local-timezone', 'UTC'] },
    })
    await client.text('Bash', { command: 'echo x > a.txt && git add a.txt' })
    expect(await client.text('mcp__git__git_status', { repo_path: world.project })).toContain('a.txt')
    expect(await client.text('mcp__time__get_current_time', { timezone: 'Europe/Vienna' })).toContain('Europe/Vienna')
  })
})

/** Installs the Python servers once; gives why that could not be done. */
function installPython(): string | undefined {
  if (existsSync(join(PYTHON, 'bin/mcp-server-time'))) return undefined
  const steps = [
    ['python3', '-m', 'venv', PYTHON],
    [join(PYTHON, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', 'mcp-server-git', 'mcp-server-time'],
  ] as const
  for (const [command, ...args] of steps) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
    if (status !== 0) return `${command} failed: ${error?.message ?? stderr.trim().split('\n').at(-1)}`
  }
  return undefined
}
