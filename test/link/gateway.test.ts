import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Environment } from '../../src/backends/backend.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { connectGateway } from '../../src/link/connect.ts'
import { type Bench, createBench, run, until } from './support.ts'

describe('the real gateway', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await createBench('real')
  })
  afterEach(() => bench.dispose())
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/tmp' }

  it('runs commands, works on files and searches over one link', async () => {
    await using client = bench.connect({ env })
    const base = bench.environment.info.workdir
    const shown = await client.call('command.run', run('echo "hi from $HOME"; exit 3'))
    expect(shown).toMatchObject({ status: 'exited', exitCode: 3, output: { head: 'hi from /tmp\n' } })
    const content = 'eins\nzwei ünd\n'
    await client.call('file.write', { session: 's', path: 'a.txt', content })
    expect(readFileSync(join(base, 'a.txt'), 'utf8')).toBe(content)
    const found = await client.call('search.grep', {
      path: '.',
      pattern: 'zwei',
      mode: 'content',
      limit: 10,
      offset: 0,
      maxLineBytes: 500,
    })
    expect(found.lines).toMatchObject([{ path: join(base, 'a.txt'), line: 2, text: 'zwei ünd' }])
  }, 60_000)

  it('moves a large file both ways unharmed', async () => {
    await using client = bench.connect({ env })
    const base = bench.environment.info.workdir
    const bytes = Buffer.alloc(5_000_003)
    for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 131) & 255
    writeFileSync(join(base, 'big'), bytes)
    const got: Uint8Array[] = []
    const { sha256 } = await client.call(
      'file.get',
      { path: 'big' },
      { onChunk: chunk => got.push(chunk) as unknown as undefined },
    )
    expect(Buffer.concat(got).equals(bytes)).toBe(true)
    const input = (async function* () {
      yield bytes
    })()
    expect((await client.call('file.put', { path: 'copy' }, { input })).sha256).toBe(sha256)
    expect(readFileSync(join(base, 'copy')).equals(bytes)).toBe(true)
  }, 60_000)

  it('fails what was in flight when the gateway was killed, says so, and goes on with a new one', async () => {
    const replaced: string[][] = []
    await using client = bench.connect({ env, events: { replaced: (was, now) => replaced.push([was, now]) } })
    const { pid, instance } = await client.opened()
    const call = client.call('command.run', run('sleep 60'))
    await until(() => client.state === 'open')
    await client.call('ping', {})
    process.kill(pid, 'SIGKILL')
    await expect(call).rejects.toMatchObject({ code: 'environment_lost' })
    expect((await client.call('command.run', run('echo again'))).output.head).toBe('again\n')
    expect((await client.opened()).instance).not.toBe(instance)
    expect(replaced).toEqual([[instance, (await client.opened()).instance]])
  }, 60_000)

  it('puts itself into an environment and serves it over one process’s stdio', async () => {
    const base = bench.environment.info.workdir
    const argvs: string[][] = []
    const environment = localStandIn(base, argvs)
    const options = {
      owner: 'o',
      env,
      graceMs: 10_000,
      gatewayIdleMs: 10_000,
      jobMaxLifeMs: 1e6,
      logMaxBytes: 1e6,
      reconnectMs: 10_000,
    }
    const client = connectGateway(environment, { ...options, logger: silentLogger, gatewayScript: bench.script })
    try {
      expect((await client.call('command.run', run('echo inside'))).output.head).toBe('inside\n')
      expect(argvs).toHaveLength(1)
      expect(argvs[0]?.[2]).toBe('attach')
    } finally {
      await client.close('end')
      rmSync(dirname(argvs[0]?.[1] ?? '/nowhere/x'), { recursive: true, force: true })
    }
  }, 60_000)

  it('puts a node into an environment that has none', async () => {
    const argvs: string[][] = []
    const environment = localStandIn(bench.environment.info.workdir, argvs, {
      PATH: folderWithoutNode(bench.environment.info.workdir),
    })
    const options = {
      owner: 'o',
      env,
      graceMs: 1e4,
      gatewayIdleMs: 1e4,
      jobMaxLifeMs: 1e6,
      logMaxBytes: 1e6,
      reconnectMs: 10_000,
    }
    const client = connectGateway(environment, { ...options, logger: silentLogger, gatewayScript: bench.script })
    try {
      expect((await client.call('command.run', run('echo inside'))).output.head).toBe('inside\n')
      expect(argvs[0]?.[0]).toMatch(/\/node$/)
      expect(argvs[0]?.[0]).toContain(dirname(argvs[0]?.[1] ?? ''))
    } finally {
      await client.close('end')
      rmSync(dirname(argvs[0]?.[1] ?? '/nowhere/x'), { recursive: true, force: true })
    }
  }, 60_000)

  it('says what is wrong with an environment that can hold no gateway', async () => {
    const environment = localStandIn(bench.environment.info.workdir, [])
    environment.exec = async () => ({ exitCode: 127, stdout: Buffer.alloc(0), stderr: Buffer.from('sh: not found') })
    const options = { owner: 'o', env, graceMs: 1, gatewayIdleMs: 1, jobMaxLifeMs: 1, logMaxBytes: 1, reconnectMs: 10_000 }
    const client = connectGateway(environment, { ...options, logger: silentLogger, gatewayScript: bench.script })
    await expect(client.opened()).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('not found') })
    expect(client.state).toBe('closed')
  }, 30_000)
})

/** A folder of the programs that an environment has, without node. */
function folderWithoutNode(base: string): string {
  const folder = mkdtempSync(join(base, 'bin-'))
  for (const name of ['sh', 'bash', 'mkdir', 'mv', 'chmod', 'uname', 'mkfifo', 'cat', 'rm']) {
    const at = ['/bin', '/usr/bin'].map(place => join(place, name)).find(path => existsSync(path))
    if (at !== undefined) symlinkSync(at, join(folder, name))
  }
  return folder
}

/** This machine as an environment that is reached by processes alone. */
function localStandIn(base: string, argvs: string[][], env: NodeJS.ProcessEnv = process.env): Environment {
  const start = (argv: readonly string[]) => spawn(argv[0] as string, argv.slice(1), { stdio: ['pipe', 'pipe', 'pipe'], env })
  return {
    info: { id: base, workdir: base, root: base, backend: 'docker' },
    async openStream(argv: readonly string[]) {
      argvs.push([...argv])
      const child = start(argv)
      return Duplex.from({ readable: child.stdout, writable: child.stdin })
    },
    async exec(argv: readonly string[]) {
      const child = start(argv)
      const parts: Buffer[] = []
      child.stdout.on('data', part => parts.push(part))
      const [exitCode] = await once(child, 'close')
      return { exitCode, stdout: Buffer.concat(parts), stderr: Buffer.alloc(0) }
    },
    async upload(files: { path: string; data: Uint8Array; mode: number }[]) {
      for (const { path, data, mode } of files) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(path, data, { mode })
      }
    },
  } as unknown as Environment
}
