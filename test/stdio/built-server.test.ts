import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder: string
let client: Client
let transport: StdioClientTransport

function build(out: string): void {
  const made = spawnSync(process.execPath, ['scripts/build.mjs', '--out', out], { cwd: root, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(made.stderr)
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'atelier-built-'))
  build(join(folder, 'dist'))
  mkdirSync(join(folder, 'work'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_RUNTIME_DIR: folder }
  transport = new StdioClientTransport({
    command: join(folder, 'dist/loader.cjs'),
    cwd: join(folder, 'work'),
    env,
    stderr: 'ignore',
  })
  client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
}, 120_000)

afterAll(async () => {
  await client?.close()
  rmSync(folder, { recursive: true, force: true })
}, 30_000)

describe('the built server', () => {
  it('runs a command, with its output as progress', async () => {
    const parts: string[] = []
    const options = { onprogress: (progress: { message?: string | undefined }) => void parts.push(progress.message ?? '') }
    const command = 'for i in 1 2 3; do echo part $i; sleep 0.2; done'
    const result = await client.callTool({ name: 'Bash', arguments: { command } }, undefined, options)
    expect(result).toMatchObject({ content: [{ text: expect.stringContaining('part 1\npart 2\npart 3') }] })
    expect(parts.join('')).toContain('part 1')
  }, 60_000)

  it('ends the process of a cancelled call', async () => {
    const controller = new AbortController()
    const pidFile = join(folder, 'work/pid')
    const call = client.callTool({ name: 'Bash', arguments: { command: 'echo $$ > pid; sleep 60' } }, undefined, {
      signal: controller.signal,
    })
    call.catch(() => {})
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8'), { timeout: 20_000 }).toMatch(/\d+\n/)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    expect(alive(pid)).toBe(true)
    controller.abort()
    await expect.poll(() => alive(pid), { timeout: 5_000 }).toBe(false)
    await expect(call).rejects.toThrow()
  }, 60_000)

  it('has the files of the workspace as resources', async () => {
    await client.callTool({ name: 'Write', arguments: { file_path: 'a b.txt', content: 'hello\n' } })
    const { resources } = await client.listResources()
    const file = resources.find(resource => resource.uri.endsWith('/a%20b.txt'))
    expect(file).toBeDefined()
    const { contents } = await client.readResource({ uri: file?.uri ?? '' })
    expect(contents).toMatchObject([{ text: 'hello\n', mimeType: 'text/plain' }])
    await expect(client.readResource({ uri: `${file?.uri}x` })).rejects.toMatchObject({ code: -32002 })
    const prompt = await client.getPrompt({ name: 'workspace-instructions' })
    expect(prompt.messages[0]?.content).toMatchObject({ text: expect.stringContaining(join(folder, 'work')) })
  }, 60_000)

  it('lists the same tools from the loader and from the session', async () => {
    const [first, second] = [await client.listTools(), await client.listTools()]
    expect(second).toEqual(first)
    expect(first.tools).toEqual(JSON.parse(readFileSync(join(folder, 'dist/tools.json'), 'utf8')))
  })

  it('is the same, byte for byte, when built again', () => {
    build(join(folder, 'once'))
    build(join(folder, 'again'))
    for (const name of ['loader.cjs', 'server.cjs', 'index.mjs', 'gateway.mjs', 'tools.json']) {
      expect(readFileSync(join(folder, 'again', name)).equals(readFileSync(join(folder, 'once', name))), name).toBe(true)
    }
  }, 120_000)
})
