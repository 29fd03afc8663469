import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, IMAGE, MISSING, onServer, type World } from './support.ts'

describe.skipIf(MISSING !== undefined)(onServer('opensandbox: hosts at once'), () => {
  let world: World
  let program: string

  beforeAll(async () => {
    world = await createWorld()
    program = join(world.base, 'host.mjs')
    await build({
      entryPoints: ['test/backends/opensandbox/host-main.ts'],
      ...{ outfile: program, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
      external: ['@alibaba-group/opensandbox'],
      banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
    })
    symlinkSync(join(process.cwd(), 'node_modules'), join(world.base, 'node_modules'))
  })
  afterEach(() => world?.clear())
  afterAll(() => world?.remove())

  function host(id: string, name: string) {
    const settings = { domain: world.front.domain, apiKey: world.apiKey, image: IMAGE }
    const argument = JSON.stringify({ settings, id, name })
    const child = spawn(process.execPath, [program, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
    return { child, answer: text(child.stdout).then(said => JSON.parse(said) as { sandbox: string; exitCode: number }) }
  }

  test('ten processes that want the same workspace get one sandbox, and nothing else is left', async () => {
    const hosts = Array.from({ length: 10 }, (_, index) => host('ws-ten', `host-${index}`))
    const answers = await Promise.all(hosts.map(({ answer }) => answer))
    const [first] = answers
    expect(answers).toEqual(answers.map(() => ({ sandbox: first?.sandbox, exitCode: 0 })))
    expect(await world.sandboxes()).toEqual([first?.sandbox])
    const names = Array.from({ length: 10 }, (_, index) => `host-${index}`)
    const { exec } = await world.backend().provision(world.spec('ws-ten'))
    const { stdout } = await exec(['ls', '/workspace'])
    expect(Buffer.from(stdout).toString().trim().split('\n').sort()).toEqual(names.sort())
  }, 400_000)

  test.each([
    ['its sandbox is there', async () => (await world.sandboxes()).length > 0],
    ['it is about to hand it out', async () => world.front.faults.list().length === 0],
  ])('a host that is killed once %s leaves one that the next host uses', async (_, reached) => {
    world.front.faults.add({ match: '^PATCH ', latencyMs: 60_000 })
    const { child, answer } = host('ws-killed', 'one')
    answer.catch(() => {})
    while (!(await reached())) await new Promise(resolve => setTimeout(resolve, 50))
    child.kill('SIGKILL')
    await once(child, 'exit')
    world.front.faults.clear()
    const environment = await world.backend().provision(world.spec('ws-killed'))
    expect(await world.sandboxes()).toEqual([environment.info.incarnation])
    expect((await environment.exec(['true'])).exitCode).toBe(0)
  })
})
