import { Presets, SingleBar } from 'cli-progress'

/** Runs `each` over the items, one after the other, with a bar on a terminal and nothing elsewhere. */
export async function withProgress<T>(
  items: readonly T[],
  output: NodeJS.WriteStream,
  each: (item: T) => Promise<void>,
): Promise<void> {
  const bar = new SingleBar({ stream: output, clearOnComplete: true, noTTYOutput: false }, Presets.shades_classic)
  const isShown = output.isTTY === true && items.length > 1
  if (isShown) bar.start(items.length, 0)
  try {
    for (const item of items) {
      await each(item)
      if (isShown) bar.increment()
    }
  } finally {
    if (isShown) bar.stop()
  }
}
