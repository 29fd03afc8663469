import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect, type TestClient } from '../support/client.ts'
import { isAlive, killOne, until } from '../support/processes.ts'
import { rawStdio } from '../support/raw-stdio.ts'
import { LOADER } from '../support/server.ts'
import { type Case, verifies } from '../support/verifies.ts'

/** Starts a long command, waits until it runs, and gives its pid. */
async function longCommand({ client, dir }: Pick<Case, 'client' | 'dir'>): Promise<number> {
  const path = join(dir, 'pid')
  void client.call('Bash', { command: `echo $$ > ${path}.part; mv ${path}.part ${path}; sleep 600 & wait` }).catch(() => {})
  await until(() => existsSync(path), 'the command has started', 30_000)
  return Number(readFileSync(path, 'utf8'))
}

async function backgroundJob(client: TestClient, command: string): Promise<string> {
  const text = await client.text('Bash', { command, run_in_background: true })
  const id = /\bjob ([0-9a-f]{6,})/i.exec(text)?.[1]
  if (id === undefined) throw new Error(`No job id in: ${text}`)
  return id
}

verifies('life.stdin-end', async test => {
  const pid = await longCommand(test)
  const closing = Date.now()
  await test.client.close()
  expect(Date.now() - closing).toBeLessThan(4_000)
  await until(() => !test.alive(pid), 'the command ends with its client', 5_000)
  expect(isAlive(test.client.pid)).toBe(false)
})

const endsAt = (signal: NodeJS.Signals) => async (test: Case) => {
  const pid = await longCommand(test)
  process.kill(test.client.pid, signal)
  await until(() => !isAlive(test.client.pid), `the server ends at ${signal}`, 5_000)
  await until(() => !test.alive(pid), 'its command ends', 5_000)
}

verifies('life.sigterm', endsAt('SIGTERM'))
verifies('life.sighup', endsAt('SIGHUP'))
verifies('life.sigint', endsAt('SIGINT'))

verifies('life.client-vanished', async ({ world, dir, alive }) => {
  const script = `
    const { spawn } = require('node:child_process')
    const server = spawn(process.execPath, [process.env.LOADER], { stdio: ['pipe', 'pipe', 'inherit'] })
    const send = message => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })
    server.stdout.once('data', () => {
      send({ method: 'notifications/initialized' })
      send({ id: 2, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'echo $$ > vanished; sleep 600' } } })
      console.log(server.pid)
    })`
  const client = spawn(process.execPath, ['-e', script], {
    cwd: dir,
    env: { ...world.env, LOADER },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(client.stdout, 'data')) as [Buffer]
  const server = Number(String(line))
  await until(
    () => existsSync(join(dir, 'vanished')) && readFileSync(join(dir, 'vanished'), 'utf8').trim() !== '',
    'the command has started',
    30_000,
  )
  client.kill('SIGKILL')
  await until(() => !isAlive(server), 'the server ends with a client that was killed', 10_000)
  await until(() => !alive(Number(readFileSync(join(dir, 'vanished'), 'utf8'))), 'and so does the command', 10_000)
})

verifies('life.broken-pipe', async ({ world, dir }) => {
  const raw = rawStdio(world)
  await raw.initialize()
  raw.child.stdout?.destroy()
  raw.send({ id: 9, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'echo hi' } } })
  raw.send({ id: 10, method: 'tools/list' })
  await until(() => !isAlive(raw.pid), 'a server whose stdout is closed ends', 15_000)
  expect(raw.stderr().length).toBeLessThan(20_000)
  expect(existsSync(dir)).toBe(true)
})

verifies('life.host-killed.inherited', async ({ client, connect }) => {
  const id = await backgroundJob(client, 'echo begun; sleep 2; echo finished; exit 5')
  process.kill(client.pid, 'SIGKILL')
  await until(() => !isAlive(client.pid), 'the host is gone')
  const next = await connect()
  let text = ''
  const finished = async () => {
    text = await next.text('BashOutput', { id, offset: 0 })
    return text.includes('finished') && !/running/.test(text)
  }
  await until(finished, 'the job has ended', 30_000)
  expect(text).toContain('begun\nfinished')
  expect(text).toMatch(/exit[^\n]*\b5\b/i)
})

verifies('life.host-killed.foreground', async ({ client, dir, alive, connect }) => {
  const pid = await longCommand({ client, dir })
  process.kill(client.pid, 'SIGKILL')
  const next = await connect()
  expect(await next.text('Bash', { command: 'echo here' })).toContain('here')
  expect(alive(pid)).toBe(true)
  await next.close()
  await until(() => !alive(pid), 'the inherited command ends with its new owner', 10_000)
})

verifies('life.host-killed.ended', async ({ dir, alive, connect }) => {
  const killed = await connect({ env: { ATELIER_GRACE_MS: '12000' } })
  const command = `echo said; echo $$ > ${dir}/pid.part; mv ${dir}/pid.part ${dir}/pid; sleep 1; exit 9`
  void killed.call('Bash', { command }).catch(() => {})
  await until(() => existsSync(join(dir, 'pid')), 'the command runs')
  process.kill(killed.pid, 'SIGKILL')
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'))
  await until(() => !alive(pid), 'the command ended', 20_000)
  const next = await connect()
  const id = /^- (\w+): exit code 9: echo said/m.exec(await next.text('workspace_status'))?.[1]
  expect(await next.text('BashOutput', { id, offset: 0 })).toMatch(/^said\n[\s\S]*exit code 9/)
})

verifies('life.host-killed.grace', async ({ world, dir, alive, client: other }) => {
  // Another host of the same owner would inherit the command.
  await other.close()
  const client = await connect(world, 'stdio', { env: { ATELIER_GRACE_MS: '1000' } })
  const pid = await longCommand({ client, dir })
  process.kill(client.pid, 'SIGKILL')
  await until(() => !alive(pid), 'after the grace time the command is ended', 60_000)
})

verifies('life.detached-children', async ({ client, dir, alive }) => {
  await client.text('Bash', { command: `setsid sh -c 'echo $$ > ${dir}/pid; exec sleep 600' > /dev/null 2>&1 & sleep .5` })
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'))
  expect(alive(pid)).toBe(true)
  await client.close()
  await until(() => !alive(pid), 'a child in a session of its own ends with the client', 10_000)
})

verifies('life.gateway-killed', async ({ processes, client }) => {
  await client.text('Bash', { command: 'echo first' })
  // In a container the init in front of it names it too.
  const gateways = processes().filter(({ command }) => /^\S*node.*gateway[\w-]*\.mjs.* serve/.test(command))
  expect(gateways.length).toBeGreaterThan(0)
  for (const { pid } of gateways) process.kill(pid, 'SIGKILL')
  await client.call('Bash', { command: 'echo second' }).catch(() => {})
  await until(
    async () => (await client.call('Bash', { command: 'echo third' }).catch(() => undefined))?.isError !== true,
    'a killed gateway is replaced',
    30_000,
  )
  expect(await client.text('Bash', { command: 'echo fourth' })).toContain('fourth')
})

verifies('life.gateway-killed.orphans', async test => {
  const { world, client } = test
  const job = await backgroundJob(client, 'sleep 500')
  const pid = await longCommand(test)
  const gateways = test.processes().filter(({ command }) => /gateway[\w-]*\.mjs.* serve/.test(command))
  expect(gateways.length).toBe(1)
  const old = gateways[0]?.pid ?? Number.NaN
  killOne(old)
  await until(
    async () => (await client.call('Bash', { command: 'echo next' }).catch(() => undefined))?.isError !== true,
    'a killed gateway is replaced',
    30_000,
  )
  await until(() => !test.alive(pid), 'the command of the killed gateway ends')
  const own = new RegExp(`/[pdtr]${old}-`)
  const left = () => readdirSync(world.root, { recursive: true, encoding: 'utf8' }).filter(path => own.test(path))
  await until(() => left().length === 0, 'its private files are gone')
  expect(await client.text('BashOutput', { id: job })).toContain('running')
  const killed = await client.text('KillBash', { id: job })
  expect(killed).not.toContain('exit code')
})

verifies('life.nothing-in-project', async ({ client, dir }) => {
  await client.text('Bash', { command: 'seq 1 50000; sleep 30 &' })
  await client.text('Write', { file_path: 'mine.txt', content: 'x' })
  await client.text('Grep', { pattern: 'x' })
  expect(readdirSync(dir)).toEqual(['mine.txt'])
})

verifies('life.detach', async ({ client, connect, dir, alive }) => {
  const id = await backgroundJob(client, `echo $$ > ${dir}/pid; echo kept; sleep 60`)
  await client.text('BashOutput', { id, wait: 2_000 })
  process.kill(client.pid, 'SIGTERM')
  await until(() => !isAlive(client.pid), 'the HTTP server ends', 15_000)
  expect(alive(Number(readFileSync(join(dir, 'pid'), 'utf8')))).toBe(true)
  const next = await connect()
  expect(await next.text('BashOutput', { id, offset: 0 })).toContain('kept')
})

verifies('life.configuration-error', async ({ world, dir }) => {
  writeFileSync(join(dir, 'atelier.config.json'), '{ "colour": "blue" }')
  const raw = rawStdio(world, { args: ['--config', join(dir, 'atelier.config.json')] })
  await raw.initialize().catch(() => {})
  const { code } = await raw.ended
  expect(code).toBe(2)
  expect(raw.stderr()).toContain('colour')
})

verifies('life.two-hosts', async ({ client, connect }) => {
  const other = await connect()
  await client.text('Bash', { command: 'echo one' })
  const id = await backgroundJob(other, 'echo job-of-two; sleep 60')
  await client.close()
  expect(await other.text('BashOutput', { id, offset: 0, wait: 2_000 })).toContain('job-of-two')
  expect(await other.text('Bash', { command: 'echo two' })).toContain('two')
})
