import type { TestClient } from './client.ts'

/** A program in a terminal, as a client drives it. */
export interface Terminal {
  id: string
  /** The answer that was given last: the screen, and what is said of it. */
  screen(): string
  /** Types text, then keys; gives the screen after it. */
  type(text: string, keys?: string): Promise<string>
  keys(keys: string): Promise<string>
  /** Looks until the screen matches. */
  until(pattern: RegExp): Promise<string>
}

const LIMIT_MS = 30_000

/** Starts a command in a terminal. */
export async function openTerminal(client: TestClient, command: string, more: Record<string, unknown> = {}): Promise<Terminal> {
  let shown = await client.text('Bash', { command, input: 'pty', ...more })
  const id = /\bjob ([0-9a-f]{10})\b/.exec(shown)?.[1]
  if (id === undefined) throw new Error(`No job id in: ${shown}`)
  const send = async (input: Record<string, unknown>) => {
    shown = await client.text('BashInput', { id, ...input })
    return shown
  }
  return {
    id,
    screen: () => shown,
    type: (text, keys) => send({ text, ...(keys === undefined ? {} : { keys }) }),
    keys: keys => send({ keys }),
    async until(pattern) {
      const end = Date.now() + LIMIT_MS
      while (!pattern.test(shown)) {
        if (Date.now() > end) throw new Error(`The screen never matched ${pattern}:\n${shown}`)
        shown = await client.text('BashOutput', { id, wait: 1_000 })
      }
      return shown
    },
  }
}
