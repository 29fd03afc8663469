import { setTimeout as sleep } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { TestClient } from '../support/client.ts'
import type { ShownCall } from './call.ts'

/** A call with its answer, as it is shown. */
export interface Shown {
  says: string
  call: string
  user: ShownCall['user']
  answer: string
  isError: boolean
}

const TRIES = 50

/** A client that can ask its user, and what that one answers next. */
export interface AskingClient extends TestClient {
  next: NonNullable<ShownCall['user']>
}

export interface TranscriptOptions {
  dir: string
  asking: AskingClient
  normalise(text: string): string
}

/** Makes the calls one after the other and gives each with its answer; jobs that one keeps are known to the next. */
export class Transcript {
  readonly #client: TestClient
  readonly #options: TranscriptOptions
  readonly #kept = new Map<string, string>()

  constructor(client: TestClient, options: TranscriptOptions) {
    this.#client = client
    this.#options = options
  }

  async make(calls: readonly ShownCall[]): Promise<Shown[]> {
    const shown: Shown[] = []
    for (const call of calls) shown.push(await this.#one(call))
    return shown
  }

  async #one({ says, tool, args, user, keep, before, until }: ShownCall): Promise<Shown> {
    const { dir, asking, normalise } = this.#options
    if (user !== undefined) asking.next = user
    const client = user === undefined ? this.#client : asking
    await before?.(dir, client)
    const filled = this.#fill(args) as Record<string, unknown>
    let result = await client.call(tool, filled)
    for (let tries = 0; until !== undefined && !until.test(answerOf(result)) && tries < TRIES; tries += 1) {
      await sleep(100)
      result = await client.call(tool, filled)
    }
    const { job } = (result._meta?.['atelier/result'] ?? {}) as { job?: string }
    if (keep !== undefined && job !== undefined) this.#kept.set(keep, job)
    const [call, answer] = [normalise(`${tool} ${spaced(filled)}`), normalise(answerOf(result))]
    return { says, call, user, answer, isError: result.isError === true }
  }

  #fill(value: unknown): unknown {
    if (typeof value === 'string') return value.replace(/^\{(\w+)\}$/, (whole, name) => this.#kept.get(name) ?? whole)
    if (Array.isArray(value)) return value.map(each => this.#fill(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#fill(each)]))
  }
}

/** JSON on one line, with room to read. */
function spaced(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')
}

/** What a model is shown: text as it stands, anything else by its kind. */
function answerOf({ content }: CallToolResult): string {
  return content
    .map(part => {
      if (part.type === 'text') return part.text
      if (part.type === 'resource_link') return `(link: ${part.uri}${part.size === undefined ? '' : `, ${part.size} bytes`})`
      if (part.type === 'image' || part.type === 'audio') return `(${part.type}: ${part.mimeType})`
      return `(${part.type})`
    })
    .join('\n')
}
