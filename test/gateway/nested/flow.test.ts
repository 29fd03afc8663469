import { describe, expect, it } from 'vitest'
import type { LinkPort } from '../../../src/gateway/dispatch.ts'
import { Flow } from '../../../src/gateway/nested/flow.ts'
import type { NestedMessageNews } from '../../../src/gateway/protocol.ts'
import { until } from '../../support/processes.ts'

const MB = 1024 * 1024

describe('the flow to a host', () => {
  function bench(port: { attached: boolean; backlog: number }) {
    const told: NestedMessageNews[] = []
    const steps: string[] = []
    const tell: LinkPort['tell'] = (_name, params) => void told.push(params as NestedMessageNews)
    const transport = { pause: () => steps.push('pause'), resume: () => steps.push('resume') }
    const flow = new Flow({
      link: id => (id === 'l' ? Object.assign(port, { tell }) : undefined),
      transport: () => transport as never,
    })
    return { flow, told, steps, port }
  }
  const news = (message: object): NestedMessageNews => ({ server: 's', message: { jsonrpc: '2.0', ...message } as never })

  it('stops reading the server while the host is behind, and goes on when it has caught up', async () => {
    const { flow, told, steps, port } = bench({ attached: true, backlog: 5 * MB })
    flow.tell('l', news({ method: 'n' }))
    flow.tell('l', news({ method: 'n' }))
    expect([told.length, steps]).toEqual([2, ['pause', 'pause']])
    port.backlog = 0
    await until(() => steps.includes('resume'), 'it reads on')
    flow.dispose()
  })

  it('bounds what waits for a host that is away: news are dropped, answers become errors', () => {
    const { flow, told, steps } = bench({ attached: false, backlog: 17 * MB })
    flow.tell('l', news({ method: 'n' }))
    flow.tell('l', news({ id: 7, result: 'x' }))
    expect(told.map(({ message }) => message)).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32000, message: expect.stringMatching(/away/) } },
    ])
    expect(steps).toEqual([])
    flow.tell('gone', news({ id: 8, result: 'x' }))
    expect(told).toHaveLength(1)
  })
})
