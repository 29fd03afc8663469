import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { textTable } from '../../src/cli/table.ts'
import { BACKENDS } from '../support/backends.ts'
import { connect } from '../support/client.ts'
import { startAtelier } from '../support/server.ts'
import { createWorld, type World } from '../support/world.ts'

const LIMIT_MS = 120_000

describe('a table', () => {
  it('aligns columns, draws no lines, and shows control characters instead of sending them', () => {
    expect(
      textTable(
        ['ID', 'NAME'],
        [
          ['a', 'long name'],
          ['bbbb', '\u001b[31mred'],
        ],
      ),
    ).toBe(['ID    NAME', 'a     long name', 'bbbb  \\x1b[31mred', ''].join('\n'))
  })
})

describe('looking after workspaces', { timeout: LIMIT_MS }, () => {
  let world: World
  beforeEach(() => {
    world = createWorld()
  })
  afterEach(() => world.dispose())

  const atelier = async (...args: string[]) => {
    const program = startAtelier(world, { args })
    const { code } = await program.ended
    return { code, stdout: program.stdout(), stderr: program.stderr() }
  }
  /** Makes a workspace through a server, as an agent does. */
  const make = async (name: string): Promise<string> => {
    const client = await connect(world, 'stdio')
    const answer = await client.text('workspace_create', { name })
    await client.close()
    return /ws-[a-z2-7]{20}/.exec(answer)?.[0] ?? answer
  }

  it('lists what any server made, as a table and as JSON', async () => {
    expect((await atelier('ls')).stdout).toBe('There are no workspaces.\n')
    const id = await make('first')
    const { code, stdout } = await atelier('ls')
    expect(code).toBe(0)
    const [head, ...rows] = stdout.split('\n')
    expect(head).toMatch(/^ID +NAME +BACKEND +STATE +AGENT +CREATED +DIRECTORY$/)
    // A server opens its default workspace too.
    expect(rows).toContainEqual(expect.stringMatching(new RegExp(`^${id} +first +local +\\S+ `)))
    const infos = JSON.parse((await atelier('ls', '--json')).stdout) as { id: string }[]
    const info = infos.find(each => each.id === id)
    expect(info).toMatchObject({ id, name: 'first', backend: 'local', owner: { user: 'local' } })
    expect(info).not.toHaveProperty('env')
    expect((await atelier('ls', '--user', 'another')).stdout).toBe('There are no workspaces.\n')
    expect((await atelier('ls', '--user', 'another', '--all')).stdout).toContain(id)
  })

  it('removes nothing without a yes, and with it the workspace and its files', async () => {
    const id = await make('box')
    const infos = JSON.parse((await atelier('ls', '--json')).stdout) as { id: string; workdir: string }[]
    const directory = infos.find(each => each.id === id)?.workdir ?? ''
    const refused = await atelier('rm', 'box')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Add --yes.') })
    expect(existsSync(directory)).toBe(true)
    expect(await atelier('rm', 'box', '--yes')).toMatchObject({ code: 0, stdout: `Removed box (${id}) on local.\n` })
    expect(existsSync(directory)).toBe(false)
    expect(await atelier('rm', 'box', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no workspace "box"'),
    })
  })

  it('keeps a directory that the user already had', async () => {
    const client = await connect(world, 'stdio')
    await client.text('Bash', { command: 'echo hi > kept' })
    await client.close()
    const listed = JSON.parse((await atelier('ls', '--json')).stdout)
    expect(listed).toHaveLength(1)
    expect(await atelier('rm', listed[0].id, '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('which stays') })
    expect(existsSync(join(world.project, 'kept'))).toBe(true)
  })

  it('says what prune would do, and does it', async () => {
    expect(await atelier('prune', '--dry-run')).toMatchObject({ code: 0, stdout: 'Nothing would be removed.\n' })
    const { stdout } = await atelier('prune', '--json')
    expect(JSON.parse(stdout)).toEqual({ dryRun: false, leftovers: [] })
  })

  it('finds a sound backend sound, and leaves nothing of its own', async () => {
    const { code, stdout } = await atelier('doctor', 'local')
    expect(stdout).not.toContain('FAIL')
    expect(code).toBe(0)
    for (const step of ['data directory', 'shell', 'create', 'gateway', 'echo', 'latency', 'delete'])
      expect(stdout).toMatch(new RegExp(`^ {2}ok {4}${step}: `, 'm'))
    expect((await atelier('ls', '--all')).stdout).toBe('There are no workspaces.\n')
  })

  it('tells a person what is wrong with a backend, with the remedy and exit code 1', async () => {
    world.env.ATELIER_DOCKER_HOST = 'tcp://127.0.0.1:9'
    const { code, stdout } = await atelier('doctor', 'docker')
    expect(stdout).toMatch(/^docker\n {2}FAIL {2}reachable: .*ECONNREFUSED.*\n {8}Name another one with --docker-host/)
    expect(code).toBe(1)
  })

  it('lists and removes on the other backends when some do not answer, and names those', async () => {
    const id = await make('box')
    Object.assign(world.env, { ATELIER_DOCKER_HOST: 'tcp://127.0.0.1:9', ATELIER_DAYTONA: '{}' })
    const listed = await atelier('ls')
    expect(listed).toMatchObject({ code: 1, stdout: expect.stringMatching(new RegExp(`^${id} +box +local `, 'm')) })
    expect(listed.stderr).toMatch(/^docker: .*ECONNREFUSED.*\n.*--docker-host.*\ndaytona: .*\n.*DAYTONA_API_KEY/)
    const missing = await atelier('rm', 'nothing', '--yes')
    expect(missing.code).toBe(1)
    expect(missing.stderr).toMatch(/no workspace "nothing"\..*docker could not be asked.*daytona could not be asked/)
    expect(await atelier('prune')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^docker: .*\n.*\ndaytona: /) })
    expect(await atelier('rm', 'box', '--yes')).toMatchObject({ code: 0, stdout: `Removed box (${id}) on local.\n` })
  })

  it('names the backend that was meant, and what an absent one needs', async () => {
    expect(await atelier('doctor', 'dokcer')).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean docker?') })
    expect(await atelier('doctor', 'e2b')).toMatchObject({ code: 1, stderr: expect.stringContaining('docs/e2b.md') })
    expect(await atelier('doctor', 'kubernetes')).toMatchObject({ code: 1, stderr: expect.stringContaining('not configured') })
  })

  const reason = BACKENDS.docker?.unavailable()
  it('prunes containers that ended long ago, and removes their workspace without starting it', async context => {
    if (reason !== undefined) return context.skip(reason)
    Object.assign(world.env, BACKENDS.docker?.env(world))
    world.onDispose(() => BACKENDS.docker?.clear(world))
    const id = await make('box')
    expect(await atelier('ls')).toMatchObject({ stdout: expect.stringMatching(/ box +docker +(running|suspended) /) })
    const left = (await BACKENDS.docker?.left(world)) ?? []
    await promisify(execFile)('docker', ['stop', '--time', '0', ...left])
    const inTwoDays = { NODE_OPTIONS: '--import data:text/javascript,Date.now=(n=>()=>n()+2*864e5)(Date.now)' }
    const prune = async (...args: string[]) => {
      const program = startAtelier(world, { args: ['prune', ...args], env: inTwoDays })
      expect((await program.ended).code).toBe(0)
      return program.stdout()
    }
    const rows = (what: string) =>
      expect.stringMatching(new RegExp(`^docker +container +${left[0]} +${what} +it ended more than a day ago`, 'm'))
    expect(await prune('--dry-run')).toEqual(rows('would be removed'))
    expect(await prune()).toEqual(rows('removed'))
    expect(await prune()).toBe('Nothing was left over.\n')
    world.env.ATELIER_PROFILES = '{"tests":{"network":"no-such-network"}}'
    expect(await atelier('rm', id, '--yes')).toMatchObject({ code: 0, stdout: `Removed box (${id}) on docker.\n` })
    expect((await atelier('ls')).stdout).not.toContain(id)
  })
})
