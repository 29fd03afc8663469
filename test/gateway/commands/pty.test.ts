import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobInputParams, RunParams } from '../../../src/gateway/protocol.ts'
import { callContext, ENV, type Fixture, fixture } from './service-fixture.ts'

const HOLDERS = ['script', 'python3'] as const

function unavailable(holder: string): string | undefined {
  try {
    execFileSync(holder, ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return `${holder} is not installed here`
  }
}

/** A variable's value in a shell, or a word that says that there is none. */
const orNone = (name: string) => `\${${name}-none}`

/** What `ps` shows of processes whose command line contains a text. */
function processesWith(text: string): string[] {
  const all = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return all.filter(line => line.includes(text) && !/^\s*\d+\s+Z/.test(line))
}

function inputs(f: Fixture): string[] {
  return readdirSync(join(f.directory, 'run')).filter(name => name.startsWith('i-'))
}

describe.each(HOLDERS)('a terminal held by %s', holder => {
  const missing = unavailable(holder)
  let f: Fixture
  beforeAll(async () => {
    f = await fixture({ ptyHolders: [holder] })
  })
  afterAll(() => f.close())

  const test = (name: string, body: () => Promise<void>) =>
    it(name, async context => {
      if (missing !== undefined) return context.skip(missing)
      await body()
    })
  const run = (command: string, params: Partial<RunParams> = {}) => f.run(command, { input: 'pty', ...params })
  const start = async (command: string, params: Partial<RunParams> = {}) =>
    (await run(command, { background: true, ...params })).job as string
  const send = (id: string, params: Omit<JobInputParams, 'id'>) =>
    f.service.handlers['job.input']({ id, waitMs: 2000, ...params }, callContext())
  const log = async (id: string) => readFile((await f.job(id)).log, 'utf8').catch(() => '')
  const until = async (id: string, text: string) => {
    for (let i = 0; i < 200; i++) {
      if ((await log(id)).includes(text)) return
      await new Promise(resolve => setTimeout(resolve, 25))
    }
    throw new Error(`no ${JSON.stringify(text)} in ${JSON.stringify(await log(id))}`)
  }

  test('is one to the program, with its size and kind', async () => {
    const result = await run('[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; stty size; echo $TERM; tty', {
      terminal: { columns: 77, rows: 21 },
    })
    expect(result).toMatchObject({ status: 'exited', exitCode: 0 })
    expect(result.output.head).toMatch(/^terminal\n21 77\nxterm-256color\n\/dev\/pts\/\d+\n$/)
    expect((await run('stty size')).output.head).toBe('30 100\n')
  })

  test('can be opened by name', async () => {
    const result = await run('read -r line < /dev/tty & sleep .2; echo shown > /dev/tty; kill $!')
    expect(result.output.head).toContain('shown')
  })

  test('gives the exit code, and carries the shell state', async () => {
    expect(await run('exit 7')).toMatchObject({ status: 'exited', exitCode: 7 })
    expect((await run('cd /; export PTY_KEPT=yes')).cwd).toBe('/')
    expect((await f.run('pwd; echo $PTY_KEPT; cd "$OLDPWD"')).output.head).toBe('/\nyes\n')
    const id = await start('exit 5')
    expect(await f.over(id)).toMatchObject({ status: 'exited', exitCode: 5 })
  })

  test('leaves the user SHELL and settings alone', async () => {
    const env = { SHELL: '/bin/some-shell', MINE: '1' }
    const context = { link: { id: 'link1', owner: 'owner1', env: { ...ENV, ...env } } }
    const shown = `echo $SHELL ${['PAGER', 'GIT_TERMINAL_PROMPT', 'LINES', 'MINE', '_S', '_B'].map(orNone).join(' ')}`
    const result = await f.run(shown, { input: 'pty', session: 'own' }, context)
    expect(result.output.head).toBe('/bin/some-shell none none none 1 none none\n')
    const kept = await f.run('export PAGER=most', { session: 'own' }, context)
    expect(kept.exitCode).toBe(0)
    expect((await f.run('echo $PAGER', { input: 'pty', session: 'own' }, context)).output.head).toBe('most\n')
    const unset = await run(`echo ${orNone('SHELL')}; env | grep -c ^SHELL=`)
    expect(unset.output.head).toMatch(/\n0\n$/)
  })

  test('becomes a job in the background, which takes text and keys', async () => {
    const id = await start('read -r line; echo "got:$line"; exit 4')
    expect(await f.job(id)).toMatchObject({ status: 'running', input: 'pty', terminal: [{ at: 0, columns: 100, rows: 30 }] })
    const { bytes, job } = await send(id, { data: 'hello\n' })
    expect(bytes).toBe(6)
    expect(job?.id).toBe(id)
    expect(await f.over(id)).toMatchObject({ status: 'exited', exitCode: 4 })
    expect(await log(id)).toContain('got:hello\r\n')
  })

  test('hides what is typed where the program asks for that', async () => {
    const id = await start('read -rsp "Password: " word; echo; [ "$word" = "open sesame" ] && echo let in')
    await until(id, 'Password: ')
    await send(id, { data: 'open sesame\n' })
    await f.over(id)
    expect(await log(id)).toContain('let in')
    expect(await log(id)).not.toContain('sesame')
  })

  test('ends a program by ctrl-c, and its input by ctrl-d', async () => {
    const one = await start('trap "echo caught; exit 130" INT; echo ready; sleep 321')
    await until(one, 'ready')
    await send(one, { keys: '\x03' })
    expect(await f.over(one)).toMatchObject({ exitCode: 130 })
    expect(await log(one)).toContain('caught')
    const two = await start('cat; echo over')
    await send(two, { data: 'line\n', eof: true })
    expect(await f.over(two)).toMatchObject({ exitCode: 0 })
    expect(await log(two)).toMatch(/line\r\nline\r\nover/)
  })

  test('is resized, and tells its program so', async () => {
    const id = await start('trap "stty size" WINCH; echo ready; while :; do sleep .05; done')
    await until(id, 'ready')
    const { job } = await send(id, { terminal: { columns: 132, rows: 50 } })
    await until(id, '50 132')
    expect(job?.terminal).toMatchObject([
      { at: 0, columns: 100, rows: 30 },
      { columns: 132, rows: 50 },
    ])
    await f.service.handlers['job.kill']({ id }, callContext())
  })

  test('is refused in a size that no terminal has', async () => {
    for (const terminal of [
      { columns: 0, rows: 0 },
      { columns: 80.5, rows: 24 },
      { columns: 80, rows: 100_000 },
    ]) {
      await expect(run('echo', { terminal })).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })

  test('takes more text than fits, and gives more than is read at once', async () => {
    const id = await start('stty raw -echo; echo ready; head -c 300000 | cksum')
    await until(id, 'ready')
    const text = 'x'.repeat(300_000)
    await send(id, { data: text })
    await f.over(id)
    expect(await log(id)).toContain(execFileSync('cksum', { input: text, encoding: 'utf8' }).trim())
    const much = await run('head -c 3000000 /dev/zero | tr "\\0" z | fold -w 99; echo; echo end')
    expect(much.output.totalBytes).toBeGreaterThan(3_000_000)
    expect(much.output.tail).toMatch(/z\nend\n$/)
  })

  test('goes on where input and output are full at the same time', async () => {
    const id = await start('stty raw -echo; echo ready; head -c 400000; echo done')
    await until(id, 'ready')
    await send(id, { data: 'y'.repeat(400_000) })
    await until(id, 'done')
    expect((await log(id)).match(/y/g)?.length).toBe(400_001)
  })

  test('dies with all its processes at a time-out and when killed', async () => {
    const timed = await run('sleep 331 & setsid sleep 332 & sleep 333', { timeoutMs: 400 })
    expect(timed.status).toBe('timed_out')
    for (const n of [331, 332, 333]) expect(processesWith(`sleep ${n}`)).toEqual([])
    const id = await start('trap "" TERM HUP INT; echo up; sleep 334 & sleep 335; sleep 336')
    await until(id, 'up')
    await f.service.handlers['job.kill']({ id }, callContext())
    expect(await f.job(id)).toMatchObject({ status: 'signaled', signal: 'SIGKILL' })
    for (const n of [334, 335, 336]) expect(processesWith(`sleep ${n}`)).toEqual([])
    const plain = await start('echo up; sleep 338')
    await until(plain, 'up')
    await f.service.handlers['job.kill']({ id: plain }, callContext())
    expect(await f.job(plain)).toMatchObject({ status: 'signaled', signal: 'SIGTERM' })
    expect(await log(plain)).toBe('up\r\n')
    const limited = await start('sleep 337', { timeoutMs: 300 })
    expect((await f.over(limited)).status).toBe('timed_out')
    expect(processesWith('sleep 337')).toEqual([])
  })

  test('passes a signal to the program, not to what holds the terminal', async () => {
    const id = await start('trap "echo interrupted; exit 9" INT; echo ready; while :; do sleep .05; done')
    await until(id, 'ready')
    await f.service.handlers['job.kill']({ id, signal: 'SIGINT' }, callContext())
    expect(await f.over(id)).toMatchObject({ exitCode: 9 })
    expect(await log(id)).toContain('interrupted')
  })

  test('goes on as a job after the soft limit, and takes input then', async () => {
    const result = await run('read -r x; echo "later:$x"', { softLimitMs: 200 })
    expect(result.status).toBe('running')
    await send(result.job as string, { data: 'now\n' })
    await f.over(result.job as string)
    expect(await log(result.job as string)).toContain('later:now')
  })

  test('leaves no pipe behind', async () => {
    for (let i = 0; i < 100 && inputs(f).length > 0; i++) await new Promise(resolve => setTimeout(resolve, 20))
    expect(inputs(f)).toEqual([])
  })

  test('is typed into by the gateway that takes over', async () => {
    const first = await fixture({ ptyHolders: [holder], instance: 'one' })
    try {
      const started = await first.run('read -r a; echo "a=$a"; read -r b; echo "b=$b"; exit 3', {
        input: 'pty',
        background: true,
      })
      const id = started.job as string
      // as if its gateway had been killed
      const record = join(first.jobsDir, id, 'job.json')
      const found = JSON.parse(readFileSync(record, 'utf8'))
      writeFileSync(record, JSON.stringify({ ...found, gateway: { ...found.gateway, pid: 2 ** 22 - 1 } }))
      const second = first.again({ instance: 'two', ptyHolders: [holder] })
      await second.adoptJobs()
      const type = (data: string) => second.handlers['job.input']({ id, data, waitMs: 2000 }, callContext())
      await type('1\n')
      await type('2\n')
      const path = join(first.jobsDir, id, 'log')
      for (let i = 0; i < 200 && !/b=2/.test(readFileSync(path, 'utf8')); i++)
        await new Promise(resolve => setTimeout(resolve, 25))
      expect(readFileSync(path, 'utf8')).toMatch(/a=1\r\n[\s\S]*b=2\r\n/)
    } finally {
      await first.close()
    }
  })
})

describe('without anything that holds a terminal', () => {
  it('says what to install', async () => {
    const f = await fixture({ ptyHolders: [] })
    try {
      await expect(f.run('vi', { input: 'pty' })).rejects.toMatchObject({
        code: 'unsupported',
        hint: expect.stringMatching(/Install script .*python3/),
      })
      expect(existsSync(f.jobsDir)).toBe(false)
    } finally {
      await f.close()
    }
  })

  it('refuses keys and a size for a job without a terminal', async () => {
    const f = await fixture()
    try {
      const id = (await f.run('cat', { input: 'pipe', background: true })).job as string
      const send = (params: Omit<JobInputParams, 'id'>) => f.service.handlers['job.input']({ id, ...params }, callContext())
      await expect(send({ keys: '\x03' })).rejects.toMatchObject({ code: 'unsupported' })
      await expect(send({ terminal: { columns: 80, rows: 24 } })).rejects.toMatchObject({ code: 'unsupported' })
    } finally {
      await f.close()
    }
  })
})
