/** Output of a bootstrap command that is kept, in bytes; none of ours says more. */
export const MAX_OUTPUT = 16 * 1024 * 1024

/**
 * Collects what a bootstrap command writes; `tooMuch` is called when it goes beyond the bound, and what comes then is dropped.
 * A stream that breaks is no error here: a process that does not read its input closes early, and its exit code says the rest.
 */
export function collectOutput(stream: NodeJS.ReadableStream, tooMuch: () => void): Buffer[] {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_OUTPUT) chunks.push(chunk)
    else tooMuch()
  })
  stream.on('error', () => {})
  return chunks
}
