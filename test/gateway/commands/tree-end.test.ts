import { execFileSync } from 'node:child_process'
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

describe.skipIf(process.platform !== 'linux')('what a stop ends', () => {
  it.each([
    ['cleared its environment and left the group', 'env -i setsid sleep 421', 'sleep 421'],
    ['did so two levels down', "env -i bash -c 'setsid sleep 422 > /dev/null 2>&1; :' & sleep 100", 'sleep 422'],
    ['also ignores SIGTERM', `env -i setsid bash -c 'trap "" TERM; sleep 423; sleep 423'`, 'sleep 423'],
    ['is stopped', 'setsid sleep 424 & kill -STOP $!; sleep 100', 'sleep 424'],
  ])('a child that %s', async (_what, command, left) => {
    const result = await f.run(command, { timeoutMs: 700 })
    expect(result.status).toBe('timed_out')
    expect(alive(left)).toBe(false)
  })

  it('a group that multiplies when it is asked to end', async () => {
    const twice = 'n=$1; trap "sh -c \\"\\$F\\" sh \\$((n+1)) & sh -c \\"\\$F\\" sh \\$((n+1)) &" TERM; [ $n -gt 8 ] || sleep 425'
    const result = await f.run('for i in 1 2 3 4; do sh -c "$F" sh 1 & done; wait', { env: { F: twice }, timeoutMs: 500 })
    expect(result.status).toBe('timed_out')
    expect(alive('sleep 425')).toBe(false)
  })

  it('a job with such a child, by a signal too', async () => {
    const { job } = await f.run('env -i setsid sleep 426; :', { background: true })
    for (let i = 0; i < 400 && !alive('sleep 426'); i++) await new Promise(resolve => setTimeout(resolve, 10))
    await f.service.handlers['job.kill']({ id: job as string, signal: 'SIGTERM' }, undefined as never)
    expect(alive('sleep 426')).toBe(false)
  })
})

it('a signal that ends nothing is not the reason of an end', async () => {
  const { job } = await f.run('sleep 0.3 & sleep 0.3; exit 0', { background: true })
  await f.service.handlers['job.kill']({ id: job as string, signal: 'SIGCONT' }, undefined as never)
  expect(await f.over(job as string)).toMatchObject({ status: 'exited', exitCode: 0 })
})
