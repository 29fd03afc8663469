import { vi } from 'vitest'

/** Runs something when so many ms have passed by this process's clock; its timers go on as they are. */
export async function later<T>(ms: number, run: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  try {
    return await run()
  } finally {
    vi.useRealTimers()
  }
}
