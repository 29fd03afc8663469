import type { Duplex } from 'node:stream'
import { quote } from '../../gateway/commands/quote.ts'
import { whatBecame } from './lost.ts'
import { openPty } from './pty.ts'
import type { ExecdPlace } from './sdk.ts'
import type { OpenSandboxContext } from './service.ts'
import { StreamWatch } from './watch.ts'

const STDERR_BYTES = 2_000

/** Starts a process in a running sandbox; its stdin and stdout are the stream, what it says on stderr is logged. */
export async function openStream(
  context: OpenSandboxContext,
  place: ExecdPlace,
  { id, argv, signal }: { id: string; argv: readonly string[]; signal: AbortSignal },
): Promise<Duplex> {
  const watch = new StreamWatch(() => whatBecame(context, id))
  let said = Buffer.alloc(0)
  const stream = await openPty(context, place, `exec ${argv.map(quote).join(' ')}`, {
    signal,
    pong: () => watch.pong(),
    stderr(bytes) {
      said = Buffer.concat([said, bytes]).subarray(-STDERR_BYTES)
    },
  })
  watch.start(stream)
  stream.once('close', () => {
    if (said.length > 0) context.logger.warn({ sandbox: id, said: said.toString() }, 'the gateway complained')
  })
  return stream
}
