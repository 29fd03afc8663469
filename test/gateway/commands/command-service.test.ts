import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fixture, fixture } from './service-fixture.ts'

let f: Fixture
beforeAll(async () => {
  f = await fixture()
})
afterAll(() => f.close())

/** Live processes whose command line contains a text. */
function processesWith(text: string): string[] {
  const all = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return all.filter(line => line.includes(text) && !/^\s*\d+\s+Z/.test(line))
}

describe('a command', () => {
  it('gives output, status and counts', async () => {
    const result = await f.run('echo hi; echo err >&2; exit 3')
    expect(result).toMatchObject({
      status: 'exited',
      exitCode: 3,
      notices: [],
      output: { head: 'hi\nerr\n', totalBytes: 7, totalLines: 2 },
    })
    expect(result.leftover).toBeUndefined()
    expect(existsSync(f.jobsDir)).toBe(false)
  })

  it('may open its outputs again by name', async () => {
    const result = await f.run('echo a; echo x > /dev/stderr; echo b | tee /dev/stderr; echo c > /dev/stdout')
    expect(result.output.head).toBe('a\nx\nb\nb\nc\n')
  })

  it('has an empty standard input', async () => {
    expect(await f.run('cat; echo done')).toMatchObject({ exitCode: 0, output: { head: 'done\n' } })
  })

  it('keeps a code point that comes in two parts', async () => {
    const result = await f.run(String.raw`printf '\xe2'; sleep 0.1; printf '\x89\xa4'`)
    expect(result.output.head).toBe('≤')
  })

  it('gives what comes late from a process substitution', async () => {
    const result = await f.run('echo hi > >(cat)')
    // where the machine is too busy, it comes as a leftover job's output
    if (result.leftover) await f.over(result.leftover.job)
    const late = result.leftover ? (await f.read(result.leftover.job)).output.head : ''
    expect(late || result.output.head).toBe('hi\n')
  })

  it('fails fast at an open heredoc', async () => {
    const result = await f.run("cat <<'EOF'\nabc")
    expect(result.status).toBe('exited')
    expect(result.output.head).toContain('abc')
  })

  it('shows what a terminal would show', async () => {
    const result = await f.run(String.raw`printf '10%%\r50%%\r100%%\n\e[31mred\e[0m\r\n'`)
    expect(result.output.head).toBe('100%\nred\n')
  })

  it('refuses NUL', async () => {
    await expect(f.run('x\0y')).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('names the signal that ended its shell', async () => {
    expect(await f.run('kill -9 $$')).toMatchObject({ status: 'signaled', signal: 'SIGKILL' })
  })

  it('runs beside others of its session', async () => {
    const all = await Promise.all([f.run('sleep 0.2; echo 1'), f.run('echo 2; export P2=x'), f.run('cd /; echo 3')])
    expect(all.map(r => r.output.head)).toEqual(['1\n', '2\n', '3\n'])
    expect((await f.run('pwd; echo $P2; cd "$OLDPWD"')).output.head).toBe('/\nx\n')
  })

  it('sees no secrets, and no prompts', async () => {
    const context = {
      link: { id: 'l', owner: 'o', env: { PATH: '/usr/bin:/bin', ATELIER_TOKEN: 't', E2B_API_KEY: 'k', KEPT: '1' } },
    }
    const result = await f.run('env', { session: 'secrets' }, context)
    expect(result.output.head).toContain('KEPT=1')
    expect(result.output.head).toContain('GIT_TERMINAL_PROMPT=0')
    expect(result.output.head).not.toMatch(/ATELIER_TOKEN|E2B_API_KEY|_B=|_X=/)
  })
})

describe('limits', () => {
  it('end a command with all its processes', async () => {
    const result = await f.run('sleep 311 & sleep 312 | cat; echo never', { timeoutMs: 300 })
    expect(result.status).toBe('timed_out')
    expect(result.durationMs).toBeLessThan(5000)
    expect(processesWith('sleep 311')).toEqual([])
    expect(processesWith('sleep 312')).toEqual([])
  })

  it('reach what left the group', async () => {
    const result = await f.run('echo before; setsid sh -c "setsid sleep 313 & exec sleep 314" & sleep 315', { timeoutMs: 500 })
    expect(result).toMatchObject({ status: 'timed_out', output: { head: 'before\n' } })
    for (const n of [313, 314, 315]) expect(processesWith(`sleep ${n}`)).toEqual([])
  })

  it('end what ignores SIGTERM', async () => {
    const result = await f.run("trap '' TERM; sleep 316; sleep 317", { timeoutMs: 200 })
    expect(result.status).toBe('timed_out')
    for (const n of [316, 317]) expect(processesWith(`sleep ${n}`)).toEqual([])
  })

  it('bound an endless output', async () => {
    const before = process.memoryUsage().rss
    const result = await f.run('yes', { timeoutMs: 700 })
    expect(result.status).toBe('timed_out')
    expect(result.output.head.startsWith('y\ny\n')).toBe(true)
    expect(result.output.tail).toMatch(/y\n/)
    expect(result.output.omittedBytes).toBeGreaterThan(100_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(120e6)
    expect(existsSync(result.output.log as string)).toBe(true)
  })

  it('say when a prompt was the last thing seen', async () => {
    const result = await f.run('printf "Continue? "; sleep 60', { timeoutMs: 200 })
    expect(result.notices.join()).toContain('waiting for input')
  })

  it('are met by a cancel, too', async () => {
    const abort = new AbortController()
    const pending = f.run('echo started; sleep 318', {}, { signal: abort.signal })
    setTimeout(() => abort.abort(), 200)
    expect(await pending).toMatchObject({ status: 'cancelled', output: { head: 'started\n' } })
    expect(processesWith('sleep 318')).toEqual([])
  })
})

describe('long output', () => {
  it('is cut, kept whole in a log, and counted', async () => {
    const result = await f.run('seq 1 20000', { headBytes: 100, tailBytes: 100 })
    expect(result.output).toMatchObject({ totalBytes: 108_894, totalLines: 20_000 })
    expect(result.output.head.startsWith('1\n2\n')).toBe(true)
    expect(result.output.tail.endsWith('20000\n')).toBe(true)
    expect(readFileSync(result.output.log as string, 'utf8').split('\n').length).toBe(20_001)
  })

  it('leaves nothing where all of it was shown', async () => {
    const result = await f.run(String.raw`i=0; while [ $i -lt 20000 ]; do printf "\r$i%%"; i=$((i+1)); done; echo`, {
      headBytes: 1000,
      tailBytes: 100,
    })
    expect(result.output).toMatchObject({ head: '19999%\n', omittedBytes: 0 })
    expect(result.output.log).toBeUndefined()
  })

  it('stops at the cap of a log, and says so', async () => {
    const small = await fixture({ logMaxBytes: 50_000 })
    const result = await small.run('seq 1 20000', { headBytes: 100, tailBytes: 100 })
    expect(result.output.logTruncatedAt).toBe(50_000)
    expect(readFileSync(result.output.log as string).length).toBe(50_000)
    await small.close()
  })
})

describe('a directory that is gone', () => {
  it('is never replaced silently: the command is not run', async () => {
    const own = await fixture()
    await own.run('mkdir gone; cd gone')
    rmSync(join(own.workdir, 'gone'), { recursive: true })
    const result = await own.run('echo ran > ../ran')
    expect(result).toMatchObject({ status: 'not_run', cwd: own.workdir })
    expect(result.notices.join()).toContain(`${own.workdir}/gone does not exist`)
    expect(existsSync(join(own.workdir, 'ran'))).toBe(false)
    expect((await own.run('pwd')).output.head).toBe(`${own.workdir}\n`)
    await own.close()
  })

  it('is named when it was for this command alone', async () => {
    const result = await f.run('pwd', { cwd: '/nowhere' })
    expect(result).toMatchObject({ status: 'not_run' })
    expect((await f.run('pwd', { cwd: '/usr', session: 'own' })).output.head).toBe('/usr\n')
    expect((await f.run('pwd', { session: 'own' })).output.head).toBe(`${f.workdir}\n`)
  })
})

describe('variables for one command', () => {
  it('are not carried, what it exports beside them is', async () => {
    await f.run('export KEPT=$ONCE', { env: { ONCE: '1', E2B_API_KEY: 'k' }, session: 'env' })
    expect((await f.run('echo "$KEPT:$ONCE"', { session: 'env' })).output.head).toBe('1:\n')
  })
})
