import type { Readable, Writable } from 'node:stream'

const PARENT_POLL_MS = 500
const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const

/** Why a server ends; `input`: the client has said everything, and may still read. */
export type EndCause = 'input' | 'output' | 'signal' | 'parent'

/** Tells each sign that a stdio client is gone: its end of either stream, a signal, or the parent process. The answer stops watching. */
export function watchForEnd(
  streams: { input: Readable; output: Writable },
  onEnd: (cause: EndCause, reason: string) => void,
): () => void {
  const { input, output } = streams
  const parent = process.ppid
  const onInput = (): void => onEnd('input', 'stdin ended')
  const onInputError = (error: Error): void => onEnd('input', `stdin failed: ${error.message}`)
  const onOutputError = (error: Error): void => onEnd('output', `stdout failed: ${error.message}`)
  const onOutputClose = (): void => onEnd('output', 'stdout was closed')
  const onSignal = (signal: NodeJS.Signals): void => onEnd('signal', signal)
  const poll = setInterval(() => {
    if (process.ppid !== parent) onEnd('parent', 'the parent process is gone')
  }, PARENT_POLL_MS)
  poll.unref()

  input.on('end', onInput).on('close', onInput).on('error', onInputError)
  output.on('error', onOutputError).on('close', onOutputClose)
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    // The error listener stays: a late EPIPE must not end the process as an uncaught exception.
    clearInterval(poll)
    input.off('end', onInput).off('close', onInput)
    output.off('close', onOutputClose)
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
