import type { Writable } from 'node:stream'
import type { LineSink } from './line-writer.ts'

/** Keeps the protocol's stream pure: from now on whatever else writes to `output` lands in `elsewhere`. */
export function guardOutput(output: Writable, elsewhere: Writable): { sink: LineSink; restore(): void } {
  const original = output.write
  const write = original.bind(output) as (chunk: string, done: (error?: Error | null) => void) => boolean
  output.write = elsewhere.write.bind(elsewhere) as typeof output.write
  return {
    sink: { write },
    restore() {
      output.write = original
    },
  }
}
