import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** The timers of Node are this much too late, and more; the rest is waited for without one. */
const TIMER_MS = 2
const REQUEST = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/

/**
 * Stands between us and a service: passes bytes on, each part `delayMs` later, and counts. `requests` are those of plain HTTP, the
 * beginnings of websockets included; of TLS only `connections` can be seen.
 */
export async function openWire({ hostname, port }) {
  const wire = { delayMs: 0, requests: 0, connections: 0, bytes: 0 }
  const open = new Set()
  const server = createServer(client => {
    wire.connections += 1
    const service = connect({ host: hostname, port: Number(port) })
    for (const [from, to] of [
      [client, service],
      [service, client],
    ]) {
      open.add(from)
      from.setNoDelay(true)
      const pass = inOrder(part => to.write(part))
      from.on('data', part => {
        wire.bytes += part.length
        if (from === client && REQUEST.test(part.toString('latin1', 0, 4096))) wire.requests += 1
        pass(part, wire.delayMs)
      })
      from.on('error', () => to.destroy())
      from.once('end', () => pass(undefined, wire.delayMs, () => to.end()))
      from.once('close', () => {
        open.delete(from)
        if (from.errored || !from.readableEnded) to.destroy()
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return Object.assign(wire, {
    host: `127.0.0.1:${server.address().port}`,
    end() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  })
}

/** Passes parts on when their time has come, none before the one in front of it. */
function inOrder(send) {
  const waiting = []
  let ticking = false
  const tick = () => {
    while (waiting.length > 0 && waiting[0].due <= performance.now()) {
      const { part, act } = waiting.shift()
      if (part === undefined) act()
      else send(part)
    }
    ticking = waiting.length > 0
    if (!ticking) return
    const left = waiting[0].due - performance.now()
    if (left > TIMER_MS) setTimeout(tick, left - TIMER_MS)
    else setImmediate(tick)
  }
  return (part, delayMs, act) => {
    waiting.push({ part, act, due: performance.now() + delayMs })
    if (!ticking) tick()
  }
}
