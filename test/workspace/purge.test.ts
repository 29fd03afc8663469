import { describe, expect, it } from 'vitest'
import { type Keeping, purgeAgent, purgeSession } from '../../src/workspace/purge.ts'

function parts(answers: Record<string, unknown> = {}) {
  const calls: unknown[][] = []
  const method =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args])
      if (answers[name] instanceof Error) throw answers[name]
      return answers[name]
    }
  const keeping = {
    nested: { purgeSession: method('nested.session'), purgeAgent: method('nested.agent') },
    offload: { purgeSession: method('offload.session'), sweep: method('offload.sweep') },
    skills: { purgeAgent: method('skills.agent') },
  }
  return { calls, keeping: keeping as unknown as Keeping }
}

describe('purging', () => {
  const scope = { agent: 'a', session: 's' }

  it('of a session ends its servers, removes its files, and sweeps where there were some', async () => {
    const there = parts({ 'offload.session': true })
    await purgeSession(there.keeping, scope)
    expect(there.calls).toEqual([['offload.session', 's'], ['nested.session', scope], ['offload.sweep']])
    const none = parts({ 'offload.session': false })
    await purgeSession(none.keeping, scope)
    expect(none.calls).toHaveLength(2)
  })

  it('of an unnamed session touches no folder', async () => {
    const { calls, keeping } = parts()
    await purgeSession(keeping, { agent: '', session: '' })
    expect(calls).toEqual([['nested.session', { agent: '', session: '' }]])
  })

  it('of an agent takes its servers and skills', async () => {
    const { calls, keeping } = parts()
    await purgeAgent(keeping, 'a')
    expect(calls).toEqual([
      ['nested.agent', 'a'],
      ['skills.agent', 'a'],
    ])
  })

  it('tries all, then tells what went wrong', async () => {
    const one = parts({ 'nested.session': new Error('stuck'), 'offload.session': true })
    await expect(purgeSession(one.keeping, scope)).rejects.toThrow('stuck')
    expect(one.calls).toContainEqual(['offload.sweep'])
    const two = parts({ 'nested.agent': new Error('a'), 'skills.agent': new Error('b') })
    await expect(purgeAgent(two.keeping, 'a')).rejects.toMatchObject({ errors: [{ message: 'a' }, { message: 'b' }] })
  })
})
