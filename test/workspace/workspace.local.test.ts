import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalBackend } from '../../src/backends/local/local.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { connectGateway } from '../../src/link/connect.ts'
import { runTool } from '../../src/tools/run-tool.ts'
import type { ToolContext } from '../../src/tools/tool.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.ts'

/** The tools on a real workspace: a gateway of its own, built for this test, in a directory that Atelier makes. */
describe('a local workspace', () => {
  let folder: string
  let workspace: Workspace

  const call = (tool: string, args: Record<string, unknown>) => {
    const context = { session: 's', signal: new AbortController().signal, workspace: async () => workspace }
    return runTool(tool, args, context as unknown as ToolContext)
  }
  const open = () => {
    const dataDir = join(folder, 'data')
    const backend = createLocalBackend({ dataDir, runtimeBase: join(folder, 'run'), logger: silentLogger })
    const spec = { id: 'ws-test', name: 'test', owner: { user: 'u', agent: '', session: '' } }
    return openWorkspace(backend, spec, {
      limits: { ...DEFAULT_LIMITS, outputChars: 2_000, graceMs: 5_000, gatewayIdleMs: 2_000 },
      env: { PATH: String(process.env.PATH), HOME: folder, LANG: 'C.UTF-8' },
      owner: 'test',
      confine: 'none',
      goodbye: 'end',
      logger: silentLogger,
      connect: (environment, options) =>
        connectGateway(environment, { ...options, gatewayScript: join(folder, 'dist/gateway.mjs') }),
    })
  }

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-ws-')))
    execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', join(folder, 'dist')])
    workspace = await open()
  }, 120_000)

  afterAll(async () => {
    await workspace?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }, 60_000)

  it('runs commands whose directory carries over', async () => {
    expect((await call('Bash', { command: 'echo hi; echo oops >&2' })).text).toMatch(/^hi\noops\n\[exit code 0, after \d+ ms\]$/)
    expect((await call('Bash', { command: 'mkdir -p sub && cd sub; (exit 3)' })).text.replace(/\d+ ms/, '9 ms')).toBe(
      `(no output)\n[exit code 3, after 9 ms]\n[cwd: ${join(workspace.info.workdir, 'sub')}]`,
    )
    expect((await call('Bash', { command: 'basename "$PWD"; cd ..' })).text).toMatch(/^sub\n\[exit/)
  })

  it('ends a command at its time-out with what it printed until then', async () => {
    const answer = await call('Bash', { command: 'echo before; sleep 60', timeout: 500 })
    expect(answer.isError).toBe(true)
    expect(answer.text).toMatch(/^before\n\[timed out after /)
  })

  it('keeps the whole of a long output in a log that Read and Grep take', async () => {
    const { text } = await call('Bash', { command: 'seq 1 100000' })
    expect(text).toMatch(/^1\n2\n/)
    expect(text).toMatch(/\n100000\n\[exit code 0, after [\d.]+ m?s\]$/)
    const [, log, offset] = /Read \{"file_path": "([^"]+)", "offset": (\d+)\}/.exec(text)!
    const more = await call('Read', { file_path: log, offset: Number(offset), limit: 2 })
    expect(more.text).toContain(`${String(offset).padStart(6)}\t${offset}\n`)
    expect((await call('Grep', { pattern: '^77777$', path: log, output_mode: 'content' })).text).toBe('77777:77777')
  })

  it('starts, feeds, follows and ends jobs', async () => {
    const started = await call('Bash', { command: 'while read -r line; do echo "got $line"; done; exit 7', input: 'pipe' })
    const id = String(started.structured?.job)
    expect((await call('BashInput', { id, text: 'one\n', eof: true })).text).toContain('Sent 4 bytes')
    let text = ''
    for (let tries = 0; tries < 20 && !text.includes(': exit code 7;'); tries += 1)
      text += (await call('BashOutput', { id, wait: 5_000 })).text
    expect(text).toContain('got one')
    expect(text).toContain(`job ${id}: exit code 7`)
    const sleeper = await call('Bash', { command: 'sleep 300', run_in_background: true })
    expect((await call('KillBash', { id: String(sleeper.structured?.job) })).text).toContain(': ended by SIGTERM.')
    expect((await call('BashOutput', { id: 'nope' })).text).toContain('The jobs are:')
  })

  it('writes, reads, edits and finds files', async () => {
    expect((await call('Write', { file_path: 'src/a.txt', content: 'one\ntwo\n' })).text).toBe(
      `Created ${join(workspace.info.workdir, 'src/a.txt')} (2 lines, 8 bytes).`,
    )
    expect((await call('Edit', { file_path: 'src/a.txt', old_string: 'two', new_string: 'zwei' })).text).toContain('     2\tzwei')
    expect((await call('Read', { file_path: 'src/a.txt' })).text).toBe('     1\tone\n     2\tzwei\n[lines 1-2 of 2]')
    expect((await call('Glob', { pattern: '**/*.txt' })).text).toBe('src/a.txt\n[1 file]')
    expect((await call('Grep', { pattern: 'zw', output_mode: 'content' })).text).toBe('src/a.txt:2:zwei')
    expect((await call('Read', { file_path: 'src' })).isError).toBe(true)
    expect((await call('Read', { file_path: 'src/b.txt' })).text).toContain('a.txt')
  })

  it('streams bytes both ways', async () => {
    const source = (async function* () {
      for (let part = 0; part < 3; part += 1) yield Buffer.alloc(700_000, `${part}`)
    })()
    const put = await workspace.files.put('big.bin', source)
    const parts: Uint8Array[] = []
    const got = await workspace.files.get('big.bin', chunk => void parts.push(Uint8Array.from(chunk)))
    expect(Buffer.concat(parts).length).toBe(2_100_000)
    expect(got.sha256).toBe(put.sha256)
    expect((await workspace.files.bytes('big.bin', { offset: 699_999, length: 1_400_000 })).data.length).toBe(1_400_000)
  })

  it("empties Atelier's folders at a reset and nothing else", async () => {
    const { root } = workspace.info
    await workspace.files.put(
      join(root, 'data/x.bin'),
      (async function* () {
        yield Buffer.from('x')
      })(),
    )
    writeFileSync(join(workspace.info.workdir, 'mine.txt'), 'mine')
    await workspace.reset()
    expect(existsSync(join(root, 'data/x.bin'))).toBe(false)
    expect(readdirSync(join(root, '.atelier'))).toEqual(['owner.json'])
    expect(existsSync(join(workspace.info.workdir, 'mine.txt'))).toBe(true)
    expect((await call('Bash', { command: 'seq 1 9999 | tail -1' })).text).toMatch(/^9999\n\[exit/)
  })

  it('fails what was running when its gateway was killed, then goes on and says what was lost', async () => {
    const { pid } = await workspace.status()
    const running = call('Bash', { command: 'sleep 60' })
    await expect.poll(async () => (await workspace.status()).running, { timeout: 10_000 }).toBeGreaterThan(0)
    process.kill(pid, 'SIGKILL')
    expect((await running).text).toContain('Call again')
    expect((await call('Bash', { command: 'echo again' })).text).toMatch(/^again\n\[exit/)
    expect(workspace.takeNotices().join('\n')).toContain('was restarted')
    expect(workspace.takeNotices()).toEqual([])
  })
})
