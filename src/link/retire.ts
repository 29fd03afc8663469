import { randomUUID } from 'node:crypto'
import { DEFAULT_HEARTBEAT } from '../gateway/wire-heartbeat.ts'
import { WireStream } from '../gateway/wire-stream.ts'
import type { Dialled } from './dial.ts'

const LIMIT_MS = 3000

/** Asks a daemon of another protocol to give way; `false` when it is in use. */
export function retireGateway({ stream }: Dialled): Promise<boolean> {
  return new Promise(resolve => {
    let agreed = false
    const wire = new WireStream(stream, {
      side: 'h',
      tag: randomUUID(),
      heartbeat: DEFAULT_HEARTBEAT,
      frame: frame => {
        agreed = frame.k === 'bye'
        wire.close()
      },
      closed: () => {
        clearTimeout(timer)
        resolve(agreed)
      },
    })
    const timer = setTimeout(() => wire.close(), LIMIT_MS)
    wire.write('retire', '')
  })
}
