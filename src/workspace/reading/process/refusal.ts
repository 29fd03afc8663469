import type { RefusedMessage } from './protocol.ts'

/** A file, or a part of it, that is not read. */
export class Refusal extends Error {
  readonly answer: RefusedMessage

  constructor(code: RefusedMessage['code'], message: string, hint?: string) {
    super(message)
    this.answer = { kind: 'refused', code, message, hint }
  }
}
