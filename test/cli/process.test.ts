import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { LOADER, startAtelier, startHttp } from '../support/server.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.dispose())

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const server = startAtelier(world, { args, env })
  server.child.stdin?.end()
  const { code } = await server.ended
  return { code, stdout: server.stdout(), stderr: server.stderr() }
}

describe('the program', () => {
  it('tells its version and its use for every command', async () => {
    for (const command of [[], ['stdio'], ['http'], ['config'], ['token', 'add']]) {
      const version = await run([...command, '--version'])
      expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
      const help = await run([...command, '--help'])
      expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: atelier')])
    }
  }, 60_000)

  it('ends with code 2 for a wrong flag, value, file or variable, and says what would be right', async () => {
    expect(await run(['http', '--prot', '1'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--port') })
    expect(await run(['--agnet', 'x'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--agent') })
    expect(await run(['http', '--port', 'abc'])).toMatchObject({ code: 2, stderr: expect.stringContaining('"abc"') })
    expect(await run(['--backend', 'dokcer'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean docker?') })
    expect(await run(['projets'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no command "projets" either') })
    expect(await run(['http', '--config', 'no.json'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no.json') })
    expect(await run(['http'], { ATELIER_GRACE_MS: 'soon' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ATELIER_GRACE_MS'),
    })
    expect(await run(['http', '--host', '0.0.0.0', '--auth', 'none'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('authentication'),
    })
  }, 60_000)

  it('shows the configuration with its sources', async () => {
    const { code, stdout } = await run(['config', '--for', 'http', '--port', '1'], { ATELIER_TOKEN: 'hidden-hidden-hidden' })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^port +1 {2}\(flag --port\)$/m)
    expect(stdout).toMatch(/^token +"\(secret\)" {2}\(ATELIER_TOKEN\)$/m)
  }, 30_000)
})

describe('output that nobody reads', () => {
  it.each([['config'], ['http --help']])('ends %s quietly', async args => {
    const child = spawn('sh', ['-c', `'${process.execPath}' '${LOADER}' ${args} | true`], { env: world.env })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      errors += text
    })
    await once(child, 'close')
    expect(errors).toBe('')
  })
})

describe('atelier http', () => {
  const ask = (url: string, path: string, token?: string) =>
    fetch(new URL(path, url), token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })

  it('prints where it is and its token, keeps that, and ends cleanly at SIGTERM', async () => {
    const server = await startHttp(world)
    const file = join(world.env.XDG_DATA_HOME ?? '', 'atelier', 'token')
    expect(readFileSync(file, 'utf8').trim()).toBe(server.token)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await ask(server.url, '/readyz')).status).toBe(200)
    expect((await ask(server.url, '/')).status).toBe(401)
    expect((await ask(server.url, '/', server.token)).status).toBe(404)
    expect(server.stdout()).toBe('')
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect((await startHttp(world)).token).toBe(server.token)
  }, 60_000)

  it('lets answers finish when one Ctrl-C comes twice', async () => {
    const server = await startHttp(world)
    const { text, close } = await connect(world, 'http', { server })
    const answer = text('Bash', { command: 'touch begun; sleep 1; echo finished' })
    await until(() => existsSync(join(world.project, 'begun')), 'the command began')
    server.child.kill('SIGINT')
    await until(() => server.stderr().includes('Shutting down'), 'the shutdown began')
    server.child.kill('SIGINT')
    expect(await answer).toContain('finished')
    await close()
    expect(await server.ended).toEqual({ code: 0, signal: null })
  }, 60_000)

  it('serves the users that `token add` made', async () => {
    const { code, stdout } = await run(['token', 'add', 'ann'])
    expect(code).toBe(0)
    expect((await run(['token', 'list'])).stdout).toBe('ann\n')
    const server = startAtelier(world, { args: ['http', '--port', '0'] })
    const url = await new Promise<string>(resolve => {
      server.child.stderr?.on('data', () => {
        const found = /MCP at (\S+)/.exec(server.stderr())?.[1]
        if (found !== undefined) resolve(found)
      })
    })
    expect((await ask(url, '/', stdout.trim())).status).toBe(404)
    expect((await ask(url, '/', 'atl_other')).status).toBe(401)
  }, 60_000)
})
