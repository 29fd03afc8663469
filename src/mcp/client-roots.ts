import { fileURLToPath } from 'node:url'
import { toWorkspaceError } from '../lib/errors.ts'
import type { SessionContext } from './session-context.ts'
import { isObject } from './shape.ts'

/** How long a client may take to name its roots, and how long a call waits for it. */
const ANSWER_MS = 10_000

const NEWS = new Set(['notifications/initialized', 'notifications/roots/list_changed'])

/** Offers a client's roots as workspaces, where the operator allows it: they are directories of this host only on stdio. */
export class ClientRoots {
  readonly #context: SessionContext
  readonly #changed: () => void
  #asking: Promise<void> | undefined

  constructor(context: SessionContext, changed: () => void) {
    this.#context = context
    this.#changed = changed
  }

  /** Hears the client's notifications: the roots are asked for when it is ready, and whenever they change. */
  heard(method: string): void {
    const { services, client } = this.#context
    if (!NEWS.has(method) || services.clientRoots !== true || !isObject(client?.capabilities.roots)) return
    this.#asking = this.#ask().catch(error => {
      services.logger.warn({ error: toWorkspaceError(error).message }, "the client's roots are not known")
    })
  }

  /** Resolves when the roots that are being asked for are known. */
  async known(): Promise<void> {
    await this.#asking
  }

  async #ask(): Promise<void> {
    const { ask, services, scope } = this.#context
    const answer = await ask?.('roots/list', {}, { limitMs: ANSWER_MS })
    const roots = Array.isArray(answer?.roots) ? answer.roots.filter(isObject) : []
    const offered = roots.flatMap(({ uri, name }) => {
      const directory = pathOf(uri)
      if (directory !== undefined) return [{ directory, name: typeof name === 'string' ? name : undefined }]
      services.logger.warn({ uri: String(uri) }, 'a root that is no file:// URI was left out')
      return []
    })
    await services.manager.offer?.(scope, offered)
    this.#changed()
  }
}

function pathOf(uri: unknown): string | undefined {
  try {
    return fileURLToPath(String(uri))
  } catch {
    return undefined
  }
}
