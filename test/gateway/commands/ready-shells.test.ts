import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { killOne, processesNaming, until } from '../../support/processes.ts'
import { settled, startedAhead } from './ready-shell-fixture.ts'
import { callContext, type Fixture, fixture } from './service-fixture.ts'

let f: Fixture
let place: string
/** Shells that wait for a command of this test. */
const waiting = () => processesNaming(place).filter(({ command }) => command.includes('-ru3'))
const COMMAND_LINE = 'tr "\\0" " " < /proc/$$/cmdline'

beforeEach(async () => {
  f = startedAhead(await fixture())
  place = `PLACE=${f.directory}`
  await f.run('true', {}, { link: { id: 'l', owner: 'o', env: { PATH: '/usr/bin:/bin', PLACE: f.directory } } })
})
afterEach(() => f.close())

describe.skipIf(!existsSync('/proc/self/cmdline'))('a shell that is started ahead', () => {
  it('runs the next command of its session, and is followed by another one', async () => {
    for (let round = 0; round < 3; round++) {
      await settled()
      expect(waiting()).toHaveLength(1)
      const [ready] = waiting()
      expect((await f.run(`echo $$; ${COMMAND_LINE}`)).output.head).toMatch(new RegExp(`^${ready?.pid}\\n.*-ru3`))
    }
  })

  it('starts from what the last command left, with a clock of its own', async () => {
    await f.run('mkdir -p deep; cd deep; export LEFT=behind; SECONDS=100')
    expect((await f.run('echo "$PWD $LEFT $SECONDS"')).output.head).toBe(`${f.workdir}/deep behind 0\n`)
  })

  it.each([
    ['quotes and a dollar', `printf '%s|' "a  b" '$x' \\\\`, 'a  b|$x|\\|'],
    ['control characters', "printf '%s' '\u0001\u007f\u0002'", '\u0001\u007f\u0002'],
    ['lines', 'echo one\necho two\n', 'one\ntwo\n'],
    ['only a remark', '# nothing', ''],
    ['nothing', '', ''],
    ['letters that are no ASCII', "printf '%s' 'grüß €'", 'grüß €'],
    ['more than a pipe takes', `printf %s ${'x'.repeat(70_000)}`, 'x'.repeat(15_000)],
    ['a heredoc', 'cat <<E\nin\nE', 'in\n'],
    ['an empty input', 'cat; echo done', 'done\n'],
    ['no descriptor of its own', '[ -e /proc/$$/fd/3 ] || echo none', 'none\n'],
  ])('takes %s as any shell does', async (_, text, head) => {
    const result = await f.run(text)
    expect(result).toMatchObject({ exitCode: 0 })
    expect(result.output.head).toBe(head)
  })

  it('is not used where the command asks for what it was not started with', async () => {
    expect((await f.run('echo $OWN', { env: { OWN: 'set' } })).output.head).toBe('set\n')
    expect((await f.run('pwd', { cwd: '/' })).output.head).toBe('/\n')
    const { job } = await f.run('true', { background: true })
    expect(await f.over(job as string)).toMatchObject({ status: 'exited', exitCode: 0 })
  })

  it('is not used once its directory is another one', async () => {
    const path = join(f.workdir, 'moved')
    await f.run('mkdir moved; cd moved')
    await settled()
    renameSync(path, `${path}-away`)
    mkdirSync(path)
    writeFileSync(join(path, 'new'), '')
    expect((await f.run('ls')).output.head).toBe('new\n')
    await settled()
    rmSync(path, { recursive: true })
    expect(await f.run('ls')).toMatchObject({ status: 'not_run' })
    expect(await f.run('pwd')).toMatchObject({ output: { head: `${f.workdir}\n` } })
  })

  it('is replaced when somebody ends it, and given up where that happens again and again', async () => {
    for (let round = 0; round < 5; round++) {
      await settled()
      for (const { pid } of waiting()) killOne(pid)
      await until(() => waiting().length === 0, 'it is gone')
      expect(await f.run('echo on')).toMatchObject({ exitCode: 0, output: { head: 'on\n' } })
    }
    await settled()
    expect(waiting()).toHaveLength(0)
  })

  it('is stopped as any command', async () => {
    const slow = await f.run('sleep 60', { timeoutMs: 100 })
    expect(slow).toMatchObject({ status: 'timed_out' })
    const cancelled = new AbortController()
    setTimeout(() => cancelled.abort(), 100)
    expect(await f.run('sleep 60', {}, { signal: cancelled.signal })).toMatchObject({ status: 'cancelled' })
    await until(() => processesNaming(place).every(({ command }) => !command.includes('sleep')), 'nothing sleeps')
  })

  it('waits for four sessions at most, and for none that is forgotten or over', async () => {
    for (const session of ['a', 'b', 'c', 'd', 'e', 'f']) await f.run('true', { session }, sameEnvironment())
    await settled()
    await until(() => waiting().length === 4, 'four wait')
    f.service.forgetSession('f')
    await until(() => waiting().length === 3, 'three wait')
    await f.service.reset()
    await until(() => waiting().length === 0, 'none waits')
  })

  it('leaves with the service', async () => {
    await settled()
    expect(waiting()).toHaveLength(1)
    await f.service.dispose()
    await until(() => waiting().length === 0, 'none waits')
  })
})

const sameEnvironment = () => callContext({ link: { id: 'l', owner: 'o', env: { PATH: '/usr/bin:/bin', PLACE: f.directory } } })
