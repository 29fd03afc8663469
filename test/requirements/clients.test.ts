import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bearerProxy } from '../support/bearer-proxy.ts'
import { nodeOf, npmTool } from '../support/npm-tool.ts'
import { LOADER, startHttp } from '../support/server.ts'
import { createWorld, type World } from '../support/world.ts'

const INSTALL_MS = 240_000
const EXPECTED = fileURLToPath(new URL('conformance-expected.yml', import.meta.url))
const EXAMPLE = fileURLToPath(new URL('../../mcp.json.example', import.meta.url))

interface Entry {
  command?: string
  args?: string[]
  env?: Record<string, string>
  url?: string
  headers?: Record<string, string>
}

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.dispose())

/** Runs a program in the world and gives its exit code and all that it printed. */
async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const child = spawn(command, args, { cwd: world.project, env: { ...world.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', chunk => (text += chunk))
  child.stderr.on('data', chunk => (text += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? -1, text }
}

describe('the conformance suite', () => {
  it('passes in every scenario that needs no reference tools', { timeout: INSTALL_MS }, async context => {
    const tool = npmTool('conformance', ['@modelcontextprotocol/conformance@0.1.16', 'node@22'])
    if ('reason' in tool) return context.skip(tool.reason)
    const proxy = await bearerProxy(await startHttp(world))
    const program = join(tool.folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
    const result = await run(nodeOf(tool.folder), [program, 'server', '--url', proxy.url, '--expected-failures', EXPECTED])
    proxy.close()
    expect(result.code, result.text.slice(-6_000)).toBe(0)
  })
})

describe('MCP Inspector', () => {
  const inspect = async (folder: string, args: readonly string[]) => {
    const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/cli/build/cli.js')
    return run(process.execPath, [program, '--cli', ...args])
  }

  it('lists and calls tools over stdio and HTTP', { timeout: INSTALL_MS }, async context => {
    const tool = npmTool('inspector', ['@modelcontextprotocol/inspector@0.22.0'])
    if ('reason' in tool) return context.skip(tool.reason)
    const call = ['--method', 'tools/call', '--tool-name', 'Bash', '--tool-arg', 'command=echo from-inspector']
    const list = await inspect(tool.folder, [process.execPath, LOADER, '--method', 'tools/list'])
    expect(list.text).toContain('"Bash"')
    expect((await inspect(tool.folder, [process.execPath, LOADER, ...call])).text).toContain('from-inspector')
    const http = await startHttp(world)
    const remote = [http.url, '--transport', 'http', '--header', `Authorization: Bearer ${http.token}`]
    expect((await inspect(tool.folder, [...remote, ...call])).text).toContain('from-inspector')
  })
})

describe('mcp.json.example', () => {
  const entries = Object.entries((JSON.parse(readFileSync(EXAMPLE, 'utf8')) as { mcpServers: Record<string, Entry> }).mcpServers)

  /** `npx` and `atelier` lead to the built product. */
  function shims(): string {
    const folder = join(world.root, 'bin')
    mkdirSync(folder)
    const shim = (name: string, text: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    shim('atelier', `exec '${process.execPath}' '${LOADER}' "$@"`)
    shim('npx', `while [ "$1" != atelier ]; do shift; done; shift; exec '${process.execPath}' '${LOADER}' "$@"`)
    return folder
  }

  async function transportOf({ command, args = [], env = {}, url, headers = {} }: Entry) {
    if (command === undefined) {
      const http = await startHttp(world)
      const filled = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, value.replace(/\$\{ATELIER_TOKEN\}/, http.token)]),
      )
      expect(new URL(url ?? '').pathname).toBe(new URL(http.url).pathname)
      return new StreamableHTTPClientTransport(new URL(http.url), {
        requestInit: { headers: filled },
      }) as unknown as StdioClientTransport
    }
    const folder = shims()
    const PATH = `${folder}:${world.env.PATH}`
    const real = args.map(arg => arg.replace('/path/to/your/project', world.project))
    return new StdioClientTransport({
      command: join(folder, command),
      args: real,
      env: { ...world.env, ...env, PATH },
      cwd: world.project,
      stderr: 'ignore',
    })
  }

  it('has entries', () => {
    expect(entries.length).toBeGreaterThan(1)
  })

  for (const [name, entry] of entries) {
    it(`starts ${name}`, async () => {
      const client = new Client({ name: 'example', version: '1' })
      await client.connect(await transportOf(entry))
      const { tools } = await client.listTools()
      expect(tools.map(tool => tool.name)).toContain('Bash')
      await client.close()
    })
  }
})
