import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../../src/backends/opensandbox/exec.ts'
import { upload } from '../../../src/backends/opensandbox/execd.ts'
import { openPty } from '../../../src/backends/opensandbox/pty.ts'
import { connectSdk, type ExecdPlace } from '../../../src/backends/opensandbox/sdk.ts'
import type { OpenSandboxContext } from '../../../src/backends/opensandbox/service.ts'
import { StreamWatch } from '../../../src/backends/opensandbox/watch.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { execdProgram } from '../../stand-ins/opensandbox/image.ts'
import { freePort } from '../../stand-ins/opensandbox/server.ts'
import { failure } from './support.ts'

/** Short limits, so that streams die while a test waits. */
const LIMITS = { EXECD_READ_LIMIT_MS: '1500', EXECD_WRITE_LIMIT_MS: '700', EXECD_PING_MS: '200' }

describe('opensandbox: streams into a sandbox', () => {
  let folder: string
  let execd: ChildProcess
  let place: ExecdPlace
  let context: OpenSandboxContext

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'at-execd-'))
    const port = await freePort()
    writeFileSync(join(folder, 'execd.cjs'), execdProgram())
    const env = { ...process.env, ...LIMITS, EXECD_PORT: String(port) }
    execd = spawn(process.execPath, [join(folder, 'execd.cjs')], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    place = { url: `http://127.0.0.1:${port}`, headers: {} }
    const settings = { domain: '127.0.0.1:9' }
    context = { sdk: await connectSdk(settings), settings, logger: silentLogger, reported: new Set(), settleMs: 0, leftMs: 0 }
    await answers(place.url)
  })
  afterAll(async () => {
    execd?.kill()
    if (execd !== undefined) await once(execd, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (command: string, said: string[] = []) =>
    openPty(context, place, command, { stderr: bytes => void said.push(bytes.toString()) })

  test('all byte values pass both ways, in messages of any size', async () => {
    const stream = await open('exec cat')
    const sent = Buffer.alloc(3_000_000, Buffer.from(Array.from({ length: 256 }, (_, value) => value)))
    const parts: Buffer[] = []
    let size = 0
    const all = new Promise<void>(resolve => {
      stream.on('data', (part: Buffer) => {
        parts.push(part)
        size += part.length
        if (size >= sent.length) resolve()
      })
    })
    stream.write(sent.subarray(0, 1))
    stream.write(sent.subarray(1))
    await all
    expect(Buffer.concat(parts).equals(sent)).toBe(true)
    stream.destroy()
  })

  test('a session is removed with its processes when its stream is over, and its stderr is told', async () => {
    const said: string[] = []
    const stream = await open('echo oops >&2; sleep 300 & echo $!; exec cat', said)
    const [pid] = (await once(stream, 'data')) as [Buffer]
    await expect.poll(() => said.join(''), { timeout: 5_000 }).toBe('oops\n')
    stream.destroy()
    await expect.poll(() => isAlive(Number(pid)), { timeout: 5_000 }).toBe(false)
  })

  test('what is not read for a while is all there later', async () => {
    const stream = await open('head -c 20000000 /dev/zero; echo; read -r _')
    await new Promise(resolve => setTimeout(resolve, 2_500))
    let size = 0
    stream.on('data', (part: Buffer) => (size += part.length))
    await expect.poll(() => size, { timeout: 10_000 }).toBe(20_000_001)
    stream.destroy()
  })

  test('the end of a process is the end of its stream', async () => {
    const stream = await open('exit 3')
    stream.resume()
    await once(stream, 'close')
    expect(stream.exitCode).toBe(3)
  })

  test('a stream that died without being closed is found out', async () => {
    const stream = await open('exec sleep 300')
    const lost = once(stream, 'error')
    const watch = new StreamWatch(async () => undefined, { pingMs: 100, askMs: 200, deadMs: 600 })
    watch.start(stream)
    const [error] = (await lost) as [WorkspaceError]
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('dead') })
    expect(stream.destroyed).toBe(true)
  })

  test('a stream that answers lives, and one of a paused sandbox ends with that reason', async () => {
    let asked = 0
    let reason: WorkspaceError | undefined
    const watch = new StreamWatch(
      async () => {
        asked += 1
        return reason
      },
      { pingMs: 50, askMs: 400, deadMs: 60_000 },
    )
    const stream = await openPty(context, place, 'exec cat', { stderr() {}, pong: () => watch.pong() })
    watch.start(stream)
    await new Promise(resolve => setTimeout(resolve, 3_000))
    expect([stream.destroyed, asked]).toEqual([false, 0])
    execd.kill('SIGSTOP')
    try {
      reason = new WorkspaceError('environment_lost', 'it was paused')
      const [error] = (await once(stream, 'error')) as [WorkspaceError]
      expect(error).toBe(reason)
    } finally {
      execd.kill('SIGCONT')
    }
  })

  test('a command has exact output on both streams, its input, and its exit code', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value))
    const argv = ['sh', '-c', 'cat; printf "%s" "$1" >&2; exit 7', 'sh', "it's \n $HOME"]
    const result = await runCommand(context, place, argv, { input: bytes })
    expect([...result.stdout]).toEqual([...bytes])
    expect(result.stderr.toString()).toBe("it's \n $HOME")
    expect(result.exitCode).toBe(7)
    expect((await runCommand(context, place, ['cat'])).stdout).toHaveLength(0)
    expect((await runCommand(context, place, ['no-such-program'])).exitCode).toBe(127)
  })

  test('the last output of a command is never lost to its end', async () => {
    for (let run = 0; run < 30; run++) {
      expect((await runCommand(context, place, ['echo', String(run)])).stdout.toString()).toBe(`${run}\n`)
    }
  })

  test('a command that takes too long or is cancelled is killed with its group', async () => {
    const argv = (name: string) => ['sh', '-c', `echo $$ > ${folder}/${name}; sleep 300`]
    expect(await failure(runCommand(context, place, argv('late'), { timeoutMs: 700 }))).toMatchObject({ code: 'timeout' })
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 700)
    const cancelled = failure(runCommand(context, place, argv('cancelled'), { signal: abort.signal }))
    expect(await cancelled).toMatchObject({ code: 'cancelled' })
    for (const name of ['late', 'cancelled']) {
      const { stdout } = await runCommand(context, place, ['cat', `${folder}/${name}`])
      await expect.poll(() => isAlive(Number(stdout.toString())), { timeout: 5_000 }).toBe(false)
    }
  })

  test('an image without bash is told so', async () => {
    const port = await freePort()
    const env = { PATH: folder, EXECD_PORT: String(port) }
    const bare = spawn(process.execPath, [join(folder, 'execd.cjs')], { env, stdio: 'ignore' })
    const exited = once(bare, 'exit')
    const url = `http://127.0.0.1:${port}`
    try {
      await answers(url)
      const error = await failure(runCommand(context, { url, headers: {} }, ['true']))
      expect(error).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('needs bash') })
    } finally {
      bare.kill()
      await exited
    }
  })

  test('uploads have their bytes and permissions', async () => {
    const data = Buffer.from([0, 255, 13, 10, 45, 45])
    const path = `${folder}/new/run me`
    await upload(context, place, [{ path, data, mode: 0o750 }])
    const { stdout } = await runCommand(context, place, ['stat', '-c', '%a %s', path])
    expect(stdout.toString()).toBe('750 6\n')
    expect([...(await runCommand(context, place, ['cat', path])).stdout]).toEqual([...data])
  })
})

async function answers(url: string): Promise<void> {
  while (!(await fetch(`${url}/ping`).catch(() => undefined))?.ok) await new Promise(resolve => setTimeout(resolve, 20))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
