import { interleave, line, quantile } from './measure.mjs'
import { withClient } from './place.mjs'

const MESSAGES = 10_000
const BATCH = 500

/** One message more in a session of 10 000 messages, and in a short one. */
export const offload = () =>
  withClient(async (_place, client) => {
    const message = n => ({ role: 'user', content: `${n} ${'some text of a usual length '.repeat(15)}` })
    const append = (session, messages) =>
      client.ask('tools/call', { name: 'offload_context', arguments: { messages }, _meta: { 'atelier/session': session } })
    for (let n = 0; n < MESSAGES; n += BATCH) {
      await append(
        'full',
        Array.from({ length: BATCH }, (_, at) => message(n + at)),
      )
    }
    const times = await interleave(
      { full: () => append('full', [message(0)]), short: () => append('short', [message(0)]) },
      { rounds: 300, warmUp: 30 },
    )
    const limit = 1.2 * quantile(times.short)
    return [line('append to 10 000 messages', { ours: times.full, base: times.short, limit, bar: '≤ 1.2 × to a few' })]
  })
