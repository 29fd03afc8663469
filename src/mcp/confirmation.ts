import { toWorkspaceError } from '../lib/errors.ts'
import type { Confirmation } from '../tools/tool.ts'
import { refusal } from './nested/to-client.ts'
import type { SessionContext } from './session-context.ts'

/** How long a person may think. */
const ANSWER_MS = 10 * 60_000

/** Asks the person at the client by elicitation; undefined where the client can't. A form without fields: accepting it is the answer. */
export function confirmationOf(
  context: SessionContext,
  { related, signal }: { related: number; signal: AbortSignal },
): Confirmation | undefined {
  const { client, ask, services } = context
  if (client === undefined || ask === undefined || refusal('elicitation/create', {}, client) !== undefined) return undefined
  const askPerson: Confirmation['ask'] = async question => {
    const params = { message: question, requestedSchema: { type: 'object', properties: {} } }
    try {
      const { action } = await ask('elicitation/create', params, { related, signal, limitMs: ANSWER_MS })
      if (action === 'accept') return 'confirmed'
      return action === 'decline' ? 'declined' : 'dismissed'
    } catch (thrown) {
      signal.throwIfAborted()
      const { code, message } = toWorkspaceError(thrown)
      services.logger.warn({ error: message }, 'the client could not be asked')
      return code === 'timeout' ? 'dismissed' : 'impossible'
    }
  }
  return { ask: askPerson, leftOpen: context.leftOpen }
}
