import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fixture, fixture } from './service-fixture.ts'

let f: Fixture
beforeAll(async () => {
  f = await fixture()
})
afterAll(() => f.close())

function alive(text: string): boolean {
  const all = execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).split('\n')
  return all.some(line => line.includes(text) && !line.startsWith('Z'))
}

async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (await check()) return
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  throw new Error(`never: ${what}`)
}

describe('children that outlive a command', () => {
  it('are listed, and the command answers at once', async () => {
    const result = await f.run('sleep 411 & echo done')
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, output: { head: 'done\n' } })
    expect(result.durationMs).toBeLessThan(1500)
    expect(result.leftover?.pids.length).toBe(1)
    const { jobs } = await f.service.handlers['job.list']({}, undefined as never)
    expect(jobs.find(job => job.id === result.job)).toMatchObject({ kind: 'leftover', status: 'running' })
    const job = await f.service.handlers['job.kill']({ id: result.job as string, signal: 'term' }, undefined as never)
    expect(job).toMatchObject({ status: 'signaled', signal: 'SIGTERM' })
    expect(alive('sleep 411')).toBe(false)
  })

  it('are listed without holding the output', async () => {
    const result = await f.run('(sleep 412 >/dev/null 2>&1 &)')
    expect(result.leftover?.pids.length).toBe(1)
    await f.service.handlers['job.kill']({ id: result.job as string, signal: 'KILL' }, undefined as never)
    expect(alive('sleep 412')).toBe(false)
  })

  it('are found in a session of their own', async () => {
    const result = await f.run('setsid sleep 413 >/dev/null 2>&1 & sleep 0.1')
    expect(result.leftover).toBeUndefined()
    const { jobs } = await f.service.handlers['job.list']({}, undefined as never)
    const found = jobs.find(job => job.command.includes('sleep 413'))
    expect(found).toMatchObject({ kind: 'leftover', status: 'running' })
    await f.service.handlers['job.kill']({ id: found?.id as string, signal: 'SIGTERM' }, undefined as never)
    expect(alive('sleep 413')).toBe(false)
  })

  it('write on into the log, and end as they do', async () => {
    const result = await f.run('(sleep 0.5; echo late) & echo early')
    expect(result.output.head).toBe('early\n')
    await f.over(result.job as string)
    expect(readFileSync(join(f.jobsDir, result.job as string, 'log'), 'utf8')).toBe('early\nlate\n')
  })

  it('end with the time limit that the command was given', async () => {
    const result = await f.run('sleep 414 & echo x', { timeoutMs: 1500 })
    expect(result.status).toBe('exited')
    expect(await f.over(result.job as string)).toMatchObject({ status: 'timed_out' })
    expect(alive('sleep 414')).toBe(false)
  })
})

describe('a job', () => {
  it('answers at once and is read in parts', async () => {
    const { job, status, output } = await f.run('echo one; read go; echo two; exit 7', { background: true, input: 'pipe' })
    expect(status).toBe('running')
    // a busy machine may start the command before the answer, which then has its first line
    const first = output.head === '' ? (await f.read(job as string, { waitMs: 5000 })).output : output
    expect(first.head).toBe('one\n')
    await f.service.handlers['job.input']({ id: job as string, data: 'go\n' }, undefined as never)
    const second = await f.read(job as string, { waitMs: 5000 })
    expect(second.output.head).toBe('two\n')
    expect(await f.over(job as string)).toMatchObject({ status: 'exited', exitCode: 7, bytes: 8 })
    expect((await f.read(job as string)).output.totalBytes).toBe(0)
    expect((await f.read(job as string, { offset: 4 })).output.head).toBe('two\n')
  })

  it('begins where a soft limit ends, without a gap', async () => {
    const result = await f.run('i=0; while [ $i -lt 60 ]; do echo $i; i=$((i+1)); sleep 0.01; done', { softLimitMs: 200 })
    expect(result.status).toBe('running')
    expect(await f.over(result.job as string)).toMatchObject({ status: 'exited', exitCode: 0 })
    const whole = Array.from({ length: 60 }, (_, i) => `${i}\n`).join('')
    expect(result.output.head + (await f.read(result.job as string)).output.head).toBe(whole)
    expect((await f.read(result.job as string, { offset: 0 })).output.head).toBe(whole)
    expect(whole.startsWith(result.output.head)).toBe(true)
  })

  it('is over for its reader as soon as nothing of it lives', async () => {
    const { job } = await f.run('read go; exit 3', { background: true, input: 'pipe' })
    await f.service.handlers['job.input']({ id: job as string, data: 'go\n' }, undefined as never)
    for (let last = await f.read(job as string); last.job.status === 'running'; last = await f.read(job as string)) {
      expect(last.notices).toEqual([])
    }
    expect(await f.job(job as string)).toMatchObject({ status: 'exited', exitCode: 3 })
  })

  it('takes input', async () => {
    const { job } = await f.run('read a; echo "got $a"; cat; echo end', { background: true, input: 'pipe' })
    const id = job as string
    const context = undefined as never
    expect(await f.service.handlers['job.input']({ id, data: 'hello\nmore\n' }, context)).toEqual({ bytes: 11 })
    await f.service.handlers['job.input']({ id, eof: true }, context)
    expect(await f.over(id)).toMatchObject({ exitCode: 0 })
    expect((await f.read(id)).output.head).toBe('got hello\nmore\nend\n')
    await expect(f.service.handlers['job.input']({ id, data: 'x' }, context)).rejects.toMatchObject({
      code: 'precondition_failed',
    })
  })

  it('is filtered by line, where a pattern can be stopped', async () => {
    const { job } = await f.run(`seq 1 100; echo ${'a'.repeat(40)}b`, { background: true })
    const id = job as string
    await f.over(id)
    expect((await f.read(id, { offset: 0, filter: '^1.$' })).output.head).toBe('10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n')
    await expect(f.read(id, { filter: '(' })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('"("'),
    })
    await expect(f.read(id, { offset: 0, filter: '^(a+)+$' })).rejects.toMatchObject({ code: 'timeout' })
  }, 20_000)

  it('can be waited for: a line that the filter lets through, or the end', async () => {
    const command = 'echo no; read a; echo also no; printf "wanted "; read b; echo here; read c'
    const { job } = await f.run(command, { background: true, input: 'pipe' })
    const id = job as string
    const input = (params: { data: string } | { eof: true }) =>
      f.service.handlers['job.input']({ id, ...params }, undefined as never)
    const waiting = f.read(id, { filter: '^wanted', waitMs: 20_000 })
    await input({ data: '1\n' })
    await until('half of the line is there', async () => (await f.job(id)).bytes > 'no\nalso no\n'.length)
    await input({ data: '2\n' })
    const { output, job: meanwhile } = await waiting
    expect([output.head, meanwhile.status]).toEqual(['wanted here\n', 'running'])
    const last = f.read(id, { filter: '^wanted', waitMs: 20_000 })
    await input({ eof: true })
    expect(await last).toMatchObject({ output: { head: '' }, job: { status: 'exited' } })
  }, 20_000)

  it('is waited for no longer than asked', async () => {
    const { job } = await f.run('while sleep 0.02; do echo no; done', { background: true })
    const found = await f.read(job as string, { filter: 'wanted', waitMs: 200 })
    expect(found).toMatchObject({ output: { head: '' }, job: { status: 'running' } })
    expect(found.nextOffset).toBeGreaterThan(0)
  })

  it('runs while its children do, with the exit code of the command', async () => {
    const { job } = await f.run('sleep 4 & exit 4', { background: true })
    await until('the shell ended', async () => (await f.job(job as string)).exitCode === 4)
    expect((await f.read(job as string)).notices.join()).toContain('ended with exit code 4')
    expect(await f.over(job as string)).toMatchObject({ status: 'exited', exitCode: 4 })
  })

  it('ends by its time limit, and by its greatest life', async () => {
    const limited = await f.run('sleep 421', { background: true, timeoutMs: 300 })
    expect(await f.over(limited.job as string)).toMatchObject({ status: 'timed_out' })
    const short = await fixture({ jobMaxLifeMs: 300 })
    const old = await short.run('sleep 422', { background: true })
    expect(await short.over(old.job as string)).toMatchObject({ status: 'timed_out' })
    await short.close()
  })

  it('is unknown by another name, and killed by real signals only', async () => {
    await expect(f.read('nope')).rejects.toMatchObject({ code: 'not_found' })
    const { job } = await f.run('sleep 423', { background: true })
    const kill = (signal: string) => f.service.handlers['job.kill']({ id: job as string, signal }, undefined as never)
    await expect(kill('SIGNOPE')).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await kill('SIGINT')).toMatchObject({ status: expect.stringMatching(/signaled|exited/) })
  })

  it('of a lost link goes to the owner’s next one', async () => {
    const pending = f.run('sleep 424; echo no')
    await until('it runs', () => alive('sleep 424'))
    f.service.linkLost('link1')
    const { job } = await pending
    f.service.inherit('link1', { id: 'link2', owner: 'owner1', env: {} })
    expect(await f.service.endOwner(() => ({ link: 'link1' }))).toBe(0)
    expect(await f.service.endOwner(() => ({ link: 'link2' }))).toBeGreaterThan(0)
    expect(await f.job(job as string)).toMatchObject({ status: 'signaled' })
    expect(alive('sleep 424')).toBe(false)
  })
})

describe('a foreground command', () => {
  it('that ended while its host was away is kept as a job with its exit code', async () => {
    const away = { attached: () => false }
    const result = await f.run('export KEPT=1; echo said; exit 9', {}, away)
    expect(result).toMatchObject({ status: 'exited', exitCode: 9, output: { head: 'said\n' } })
    expect(result.leftover).toBeUndefined()
    const { jobs } = await f.service.handlers['job.list']({}, undefined as never)
    const found = jobs.find(job => job.command.startsWith('export KEPT'))
    expect(await f.over(found?.id as string)).toMatchObject({ status: 'exited', exitCode: 9, kind: 'command' })
    expect((await f.read(found?.id as string, { offset: 0 })).output.head).toBe('said\n')
    expect((await f.run('echo "$KEPT"')).output.head).toBe('1\n')
  })

  it('that ended while its host was there is none', async () => {
    await f.run('echo no job')
    const { jobs } = await f.service.handlers['job.list']({}, undefined as never)
    expect(jobs.filter(job => job.command === 'echo no job')).toEqual([])
  })

  it('of a lost link is listed at once', async () => {
    const pending = f.run('sleep 425')
    await until('it runs', () => alive('sleep 425'))
    f.service.linkLost('link1')
    const { jobs } = await f.service.handlers['job.list']({}, undefined as never)
    const { job } = await pending
    expect(jobs.find(({ command }) => command === 'sleep 425')).toMatchObject({ id: job, status: 'running' })
    await f.service.handlers['job.kill']({ id: job as string }, undefined as never)
  })
})

describe('reset', () => {
  it('ends all, forgets sessions and leaves no folder', async () => {
    const own = await fixture()
    await own.run('cd /; export R=1')
    await own.run('sleep 431', { background: true })
    expect(await own.service.reset()).toBe(1)
    expect((await own.run('pwd; echo "$R"')).output.head).toBe(`${own.workdir}\n\n`)
    expect(readdirSync(own.jobsDir)).toEqual([])
    await own.close()
  })
})

describe('a job whose gateway died', () => {
  it.each([{ background: true }, { softLimitMs: 300 }])(
    'goes on, and is taken over with its true exit code (%o)',
    async how => {
      const own = await fixture()
      const gateway = await deadGateway(own, 'echo start; sleep 1.5; seq 1 30000; exit 9', how)
      expect(gateway.status).toBe('running')
      const heir = own.again({ instance: 'heir' })
      await heir.adoptJobs()
      const read = (offset: number) =>
        heir.handlers['job.read']({ id: gateway.job, session: 'n', offset, headBytes: 1e6, tailBytes: 100 }, {
          signal: new AbortController().signal,
        } as never)
      await until('it ended', async () => (await read(0)).job.status !== 'running')
      const { job, output } = await read(0)
      expect(job).toMatchObject({ status: 'exited', exitCode: 9 })
      expect(output.head.startsWith('start\n1\n2\n')).toBe(true)
      expect(output.totalLines).toBe(30_001)
      await own.close()
    },
    30_000,
  )

  it('is unknown where nobody saw its end', async () => {
    const own = await fixture()
    const id = '00000000aa'
    mkdirSync(join(own.jobsDir, id), { recursive: true })
    const record = {
      id,
      command: 'x',
      owner: 'o',
      session: 's',
      kind: 'command',
      input: 'none',
      startedAt: new Date().toISOString(),
      status: 'running',
    }
    const dead = {
      process: { pid: 999_999, start: '1' },
      gateway: { instance: 'old', pid: 999_998, start: '1' },
      machine: { boot: 'other', namespace: '' },
    }
    writeFileSync(join(own.jobsDir, id, 'job.json'), JSON.stringify({ ...record, ...dead }))
    const heir = own.again({ instance: 'heir' })
    await heir.adoptJobs()
    const { jobs } = await heir.handlers['job.list']({}, undefined as never)
    expect(jobs[0]).toMatchObject({ id, status: 'unknown' })
    expect(existsSync(join(own.jobsDir, id, 'job.json'))).toBe(true)
    await own.close()
  })
})

/** Runs a background command in a process of its own, and kills that process without warning. */
async function deadGateway(own: Fixture, command: string, how: object): Promise<{ job: string; status: string }> {
  const { build } = await import('esbuild')
  const bundle = join(own.directory, 'service.mjs')
  const entry = join(import.meta.dirname, '../../../src/gateway/commands/command-service.ts')
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: bundle, logLevel: 'error' })
  const options = {
    runtimeDir: join(own.directory, 'run'),
    jobsDir: own.jobsDir,
    workdir: own.workdir,
    instance: 'old',
    jobMaxLifeMs: 1e6,
    logMaxBytes: 1e9,
  }
  const script = `
    import { createCommandService } from ${JSON.stringify(bundle)}
    const service = createCommandService({ ...${JSON.stringify(options)}, notify() {}, log() {} })
    const params = { session: 's', command: ${JSON.stringify(command)}, ...${JSON.stringify(how)}, headBytes: 1000, tailBytes: 1000 }
    const context = { link: { id: 'l', owner: 'o', env: process.env }, signal: new AbortController().signal, attached: () => true, sendable: () => 0 }
    console.log(JSON.stringify(await service.handlers['command.run'](params, context)))
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>(resolve => child.stdout.once('data', data => resolve(String(data))))
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
  return JSON.parse(line)
}
