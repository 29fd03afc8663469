import type { Fixture } from './service-fixture.ts'

/** Lets the service start what it starts ahead once an answer is out. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** The same service for a caller that takes its time: after each command the shell of the next one waits. */
export function startedAhead(f: Fixture): Fixture {
  return {
    ...f,
    async run(...command) {
      await settled()
      return f.run(...command)
    },
  }
}
