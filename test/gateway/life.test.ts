import { afterEach, describe, expect, it } from 'vitest'
import { Life, type LifeWork } from '../../src/gateway/life.ts'
import type { ServerLink } from '../../src/gateway/link-server-link.ts'

type Whose = ReturnType<Parameters<LifeWork['end']>[0]>

/** A daemon's life whose work takes as long to end as the test wants. */
function createLife() {
  const ended: Whose[] = []
  const reasons: string[] = []
  let comesTo: () => void = () => {}
  const work: LifeWork = {
    linkLost() {},
    inherit() {},
    busy: () => false,
    async end(whose) {
      await new Promise<void>(resolve => (comesTo = resolve))
      ended.push(whose())
    },
  }
  const life = new Life({ work, idleMs: 1e9, sound: () => true, end: reason => void reasons.push(reason) })
  const settle = async () => {
    comesTo()
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  return { life, ended, reasons, settle }
}

function linkOf(owner: string, id: string): ServerLink {
  return { id, context: { id, owner, env: {} }, calls: { cancelAll() {} }, graceMs: 1000, idleMs: 1e9 } as unknown as ServerLink
}

describe('a goodbye', () => {
  let bench: ReturnType<typeof createLife>
  afterEach(() => bench.life.finish('over'))

  it('ends the work of its owner, and the daemon without other hosts', async () => {
    bench = createLife()
    const link = linkOf('o', 'first')
    bench.life.attached(link)
    bench.life.goodbye(link, 'end')
    expect(bench.life.over).toBe(false)
    await bench.settle()
    expect(bench.ended).toEqual([{ owner: 'o' }])
    expect(bench.reasons).toEqual(['the last host left'])
    expect(bench.life.over).toBe(true)
  })

  it('leaves alone what its owner begins by another link before it comes to the end', async () => {
    bench = createLife()
    const [link, next] = [linkOf('o', 'first'), linkOf('o', 'next')]
    bench.life.attached(link)
    bench.life.goodbye(link, 'end')
    bench.life.attached(next)
    bench.life.opened(next)
    await bench.settle()
    expect(bench.ended).toEqual([{ link: 'first' }])
    expect(bench.reasons).toEqual([])
  })

  it('does not count the link of another owner for its own', async () => {
    bench = createLife()
    const [link, other] = [linkOf('o', 'first'), linkOf('p', 'other')]
    bench.life.attached(link)
    bench.life.attached(other)
    bench.life.goodbye(link, 'end')
    await bench.settle()
    expect(bench.ended).toEqual([{ owner: 'o' }])
    expect(bench.reasons).toEqual([])
  })
})
