import type { ProbeStep } from '../backends/backend.ts'
import { toWorkspaceError } from '../lib/errors.ts'

/** A failure as a step of `atelier doctor`, with its remedy. */
export function failedStep(name: string, error: unknown): ProbeStep {
  const { message, hint } = toWorkspaceError(error)
  return { name, ok: false, detail: message, ...(hint === undefined ? {} : { hint }) }
}
