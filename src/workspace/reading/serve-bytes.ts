import type { Duplex } from 'node:stream'
import { WorkspaceError } from '../../lib/errors.ts'
import type { ByteSource } from './byte-source.ts'
import { MAX_ANSWER_BYTES, REQUEST_BYTES } from './process/protocol.ts'
import type { WorkClock } from './work-clock.ts'

/** Answers a reader's requests for bytes until its channel ends; the clock stands still meanwhile. */
export async function serveBytes(channel: Duplex, source: ByteSource, clock: WorkClock): Promise<void> {
  let pending = Buffer.alloc(0)
  for await (const chunk of channel) {
    pending = Buffer.concat([pending, chunk as Buffer])
    while (pending.length >= REQUEST_BYTES) {
      const [offset, length] = [pending.readDoubleLE(0), pending.readDoubleLE(8)]
      pending = pending.subarray(REQUEST_BYTES)
      clock.pause()
      const data = await answer(source, offset, length)
      const head = Buffer.alloc(4)
      head.writeUInt32LE(data.length)
      clock.run()
      channel.write(head)
      channel.write(data)
    }
  }
}

function answer(source: ByteSource, offset: number, length: number): Promise<Uint8Array> {
  const sane = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0
  if (sane && length <= MAX_ANSWER_BYTES) return source.read(offset, length)
  throw new WorkspaceError('protocol', `The reader asked for the byte range ${offset}, ${length}.`)
}
