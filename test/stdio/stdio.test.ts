import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Built, buildFixture, call, initialize, initialized, list, ping, type Running, start } from './support.ts'

let built: Built
const running: Running[] = []

function open(env?: Record<string, string>): Running {
  const server = start(built, env)
  running.push(server)
  return server
}

beforeAll(async () => {
  built = await buildFixture()
}, 60_000)
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL')
})
afterAll(() => built?.remove())

const ids = (server: Running): unknown[] => server.lines.map(line => JSON.parse(line).id)

describe('loader', () => {
  it('answers initialize, ping and the first list, and hands the rest over in order', async () => {
    const server = open()
    server.send(initialize, initialized, list(1), ping(2), call(3, 'Echo', { a: 1 }), list(4), ping(5))
    expect(await server.answer(3)).toMatchObject({ result: { content: [{ text: '{"a":1}' }] } })
    await server.answer(4)
    await server.answer(5)
    expect(ids(server).slice(0, 3)).toEqual([0, 1, 2])
    expect(await server.answer(0)).toMatchObject({ result: { protocolVersion: '2025-11-25', serverInfo: { name: 'atelier' } } })
    const tools = ((await server.answer(1)).result as { tools: { name: string }[] }).tools.map(tool => tool.name)
    expect(tools).toContain('Bash')
    expect(await server.answer(4)).toMatchObject({ result: { tools: [{ name: 'Echo' }] } })
  })

  it('loses nothing while the rest is still being made', async () => {
    const server = open({ FIXTURE_DELAY: '300' })
    server.send(initialize)
    await server.answer(0)
    server.send(initialized, call(1, 'Echo', { n: 1 }))
    await sleep(150)
    server.send(call(2, 'Echo', { n: 2 }))
    expect(await server.answer(1)).toMatchObject({ result: { content: [{ text: '{"n":1}' }] } })
    expect(await server.answer(2)).toMatchObject({ result: { content: [{ text: '{"n":2}' }] } })
  })

  it('gives the same answers wherever the bytes are split', async () => {
    const data = Buffer.from(
      [initialize, initialized, list(1), call(2, 'Echo', { t: 'é😀' }), ping(3)].map(m => `${JSON.stringify(m)}\n`).join(''),
    )
    const run = async (cuts: number[]): Promise<void> => {
      const server = open()
      let from = 0
      for (const to of [...cuts.sort((a, b) => a - b), data.length]) {
        server.write(data.subarray(from, to))
        from = to
        await new Promise(resolve => setImmediate(resolve))
      }
      expect(await server.answer(2)).toMatchObject({ result: { content: [{ text: '{"t":"é😀"}' }] } })
      await server.answer(3)
      expect(ids(server).sort()).toEqual([0, 1, 2, 3])
      server.child.kill('SIGKILL')
    }
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(data.length), { maxLength: 6 }), run), { numRuns: 12 })
  }, 60_000)

  it('refuses what comes before initialize, and serves on', async () => {
    const server = open()
    server.send(list(1), initialize, list(2))
    expect(await server.answer(1)).toMatchObject({ error: { code: -32600 } })
    expect(await server.answer(2)).toMatchObject({ result: {} })
  })
})

describe('lines', () => {
  it('answers -32700 to a malformed one, skips blank ones, and serves on', async () => {
    const server = open()
    server.send(initialize)
    server.write('{"jsonrpc": oops\n\n  \r\n')
    server.send(ping(7))
    await server.answer(7)
    expect(await server.answer(null)).toMatchObject({ error: { code: -32700 } })
    expect(server.lines).toHaveLength(3)
  })

  it('refuses one that is no UTF-8, whose text would be changed', async () => {
    const server = open()
    server.send(initialize)
    server.write(Buffer.from('{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"caf\xe9"}}\n', 'latin1'))
    server.send(ping(9))
    await server.answer(9)
    expect((await server.answer(null)).error).toMatchObject({ code: -32700, message: expect.stringContaining('UTF-8') })
  })

  it('takes 50 MB in one line, and refuses one over the limit clearly', async () => {
    const server = open()
    server.send(initialize, call(1, 'Echo', { text: 'x'.repeat(50_000_000) }))
    expect(await server.answer(1)).toMatchObject({ result: { content: [{ text: expect.stringContaining('xxx') }] } })
    server.write(`{"jsonrpc":"2.0","id":2,"method":"${'y'.repeat(70_000_000)}"}\n`)
    server.send(ping(3))
    await server.answer(3)
    expect(await server.answer(null)).toMatchObject({ error: { code: -32600, message: expect.stringContaining('67108864') } })
  }, 60_000)

  it('keeps stray output off the protocol', async () => {
    const server = open()
    server.send(initialize, call(1, 'Stray'))
    await server.answer(1)
    for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
    expect(server.stderr()).toContain('stray line\nstray write\n')
  })
})

describe('the workspace ahead of use', () => {
  it('is opened after the first list', async () => {
    const server = open()
    server.send(initialize, initialized, list(1))
    await server.logged('released')
    expect(server.log()).toEqual(['acquired', 'released'])
  })

  it('is opened without a list a moment after initialization, and not before it', async () => {
    const server = open()
    server.send(initialize, call(1, 'Echo'))
    await server.answer(1)
    await sleep(300)
    expect(server.log()).toEqual([''].filter(Boolean))
    server.send(initialized)
    await server.logged('released')
  })
})

describe('the end', () => {
  const serving = async (env?: Record<string, string>): Promise<Running> => {
    const server = open(env)
    server.send(initialize, call(1, 'Wait'))
    await server.logged('waiting')
    return server
  }
  const gone = async (server: Running): Promise<void> => {
    const { code, ms } = await server.ended()
    expect(code).toBe(0)
    expect(ms).toBeLessThan(3_000)
    expect(server.log()).toEqual(['waiting', 'aborted', 'goodbye', 'end 0'])
  }

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('comes with %s: calls aborted, goodbye said, code 0', async signal => {
    const server = await serving()
    server.child.kill(signal)
    await gone(server)
  })

  it('comes with the end of stdin', async () => {
    const server = await serving()
    server.child.stdin?.end()
    await gone(server)
  })

  it('comes with a broken pipe', async () => {
    const server = await serving()
    server.child.stdout?.destroy()
    server.send(ping(2))
    await gone(server)
  })

  it('does not wait for a goodbye that hangs', async () => {
    const server = await serving({ FIXTURE_STUCK: '1' })
    server.child.kill('SIGTERM')
    const { code, ms } = await server.ended()
    expect(code).toBe(0)
    expect(ms).toBeLessThan(3_000)
  })

  it('answers what was asked just before the end of stdin', async () => {
    const server = open()
    server.send(initialize, initialized, call(1, 'Echo'), list(2))
    server.child.stdin?.end()
    await server.answer(1)
    await server.answer(2)
    expect((await server.ended()).code).toBe(0)
  })

  it('comes with a vanished parent, even where stdin and stdout stay open', async () => {
    const folder = mkdtempSync(join(built.folder, 'parent-'))
    const log = join(folder, 'log')
    const fifo = join(folder, 'fifo')
    const script = 'mkfifo "$2" && exec 3<>"$2" && "$0" "$1" <&3 & wait'
    const parent = spawn('sh', ['-c', script, process.execPath, built.loader, fifo], {
      env: { ...process.env, FIXTURE_LOG: log },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    try {
      await expect.poll(() => existsSync(fifo), { timeout: 10_000 }).toBe(true)
      appendFileSync(fifo, [initialize, initialized, list(1)].map(message => `${JSON.stringify(message)}\n`).join(''))
      await expect.poll(() => existsSync(log) && readFileSync(log, 'utf8'), { timeout: 15_000 }).toContain('released')
      parent.kill('SIGKILL')
      await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 15_000 }).toContain('goodbye\nend 0')
    } finally {
      process.kill(-(parent.pid ?? 0), 'SIGKILL')
    }
  }, 45_000)

  it('has code 2 and a message when the configuration is wrong', async () => {
    const server = open({ FIXTURE_BAD: '1' })
    server.send(initialize, list(1))
    await server.answer(1)
    expect((await server.ended()).code).toBe(2)
    expect(server.stderr()).toContain('"port" is "x": a number is needed.\nCorrect it.')
  })

  it('comes for a client that does not read', async () => {
    const server = open()
    server.send(initialize)
    await server.answer(0)
    server.child.stdout?.pause()
    for (let id = 1; id <= 40; id++) server.send(call(id, 'Big', { bytes: 4_000_000 }))
    await server.logged('end 0')
    server.child.stdout?.resume()
    expect((await server.ended()).code).toBe(0)
  }, 30_000)
})

it('serves the SDK client', async () => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [built.loader], stderr: 'pipe' })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  expect(client.getServerVersion()).toMatchObject({ name: 'atelier' })
  expect(client.getInstructions()).toContain('workspace')
  expect((await client.listTools()).tools.length).toBeGreaterThan(5)
  expect(await client.callTool({ name: 'Echo', arguments: { b: 2 } })).toMatchObject({ content: [{ text: '{"b":2}' }] })
  await client.close()
})
