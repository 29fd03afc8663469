import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure.mjs'
import type { Environment } from '../../src/backends/backend.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { connectGateway } from '../../src/link/connect.ts'
import { nodeOf, npmTool } from '../support/npm-tool.ts'
import { LOADER } from '../support/server.ts'
import { run } from './support.ts'

const INSTALL_MS = 240_000

/** An environment on this host whose only Node is `node`. */
function environmentOf(node: string, base: string, folders: string[]): Environment {
  const PATH = `${dirname(node)}:${process.env.PATH}`
  const program = (argv: readonly string[]) => [argv[0] ?? '', argv.slice(1)] as const
  return {
    info: { id: 'old', backend: 'docker', workdir: base, root: base },
    exec: argv =>
      new Promise(resolve => {
        execFile(...program(argv), { env: { ...process.env, PATH } }, (error, stdout, stderr) => {
          resolve({ exitCode: error === null ? 0 : 1, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) })
        })
      }),
    async upload(files) {
      for (const { path, data, mode } of files) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        folders.push(dirname(path))
        writeFileSync(path, data, { mode })
      }
    },
    async openStream(argv) {
      const child = spawn(...program(argv), { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, TMPDIR: base } })
      return Duplex.from({ writable: child.stdin, readable: child.stdout })
    },
  } as Partial<Environment> as Environment
}

describe('the built gateway on Node 18', () => {
  const folders: string[] = []
  let base: string
  let node: string | undefined
  let reason = ''
  beforeAll(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'at-n18-')))
    const tool = npmTool('node18', ['node@18'])
    if ('reason' in tool) reason = tool.reason
    else node = nodeOf(tool.folder)
    if (process.env.ATELIER_TEST_DIST === undefined) await ensureBuilt()
  }, INSTALL_MS)
  afterAll(() => {
    for (const folder of [base, ...folders]) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })

  it('starts, attaches, runs commands and jobs, works on files and searches', async context => {
    if (node === undefined) return context.skip(reason)
    await using client = connectGateway(environmentOf(node, base, folders), {
      ...{
        owner: 'o',
        env: { PATH: process.env.PATH ?? '', HOME: base },
        graceMs: 2_000,
        gatewayIdleMs: 1_000,
        jobMaxLifeMs: 60_000,
      },
      ...{ logMaxBytes: 1e6, reconnectMs: 20_000, logger: silentLogger, gatewayScript: join(dirname(LOADER), 'gateway.mjs') },
    })
    const { pid } = await client.opened()
    if (process.platform === 'linux') expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).toContain(node)
    const shown = await client.call('command.run', run('cd /; export A=1; echo out; exit 3'))
    expect(shown).toMatchObject({ status: 'exited', exitCode: 3, output: { head: 'out\n' } })
    expect(await client.call('command.run', run('echo "$PWD$A"'))).toMatchObject({ output: { head: '/1\n' } })

    const content = 'eins\nzwei ünd\n'
    const path = join(base, 'a.txt')
    await client.call('file.write', { session: 's', path, content })
    await client.call('file.edit', { session: 's', path, oldString: 'eins', newString: 'one', replaceAll: false })
    expect(readFileSync(path, 'utf8')).toBe('one\nzwei ünd\n')
    const chunks: Uint8Array[] = []
    await client.call('file.get', { path }, { onChunk: chunk => void chunks.push(chunk) })
    expect(Buffer.concat(chunks).toString()).toBe('one\nzwei ünd\n')
    const input = (async function* () {
      yield Buffer.from('put')
    })()
    await client.call('file.put', { path: join(base, 'b.txt') }, { input })
    expect(readFileSync(join(base, 'b.txt'), 'utf8')).toBe('put')

    const where = { path: base, limit: 10 }
    const found = await client.call('search.grep', { ...where, pattern: 'zwei', mode: 'content', offset: 0, maxLineBytes: 500 })
    expect(found.lines).toMatchObject([{ path, line: 2, text: 'zwei ünd' }])
    expect(JSON.stringify(await client.call('search.glob', { ...where, pattern: '*.txt' }))).toContain('a.txt')
    await client.close('end')
  }, 90_000)
})
