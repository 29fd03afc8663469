import { randomUUID } from 'node:crypto'
import type { CallContext } from '../dispatch.ts'
import type { RunParams } from '../protocol-commands.ts'

/** Ten random hexadecimal digits; `randomUUID` has its bytes ready, `randomBytes` asks for them each time. */
export function newId(): string {
  return randomUUID().replace('-', '').slice(0, 10)
}

/** Sends output on as far as the caller has room for it; what it has not is dropped. */
export function streaming(params: RunParams, context: CallContext): ((chunk: Buffer) => void) | undefined {
  if (!params.stream) return undefined
  return chunk => {
    const room = context.sendable()
    if (room > 0) void context.send(Buffer.from(chunk.subarray(0, room))).catch(() => {})
  }
}
