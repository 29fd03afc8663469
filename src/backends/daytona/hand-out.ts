import type { CallOptions } from '../backend.ts'
import { handedOutLabels, recordOf } from './record.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'

/** Notes that somebody is given a sandbox, before that happens: from then on it may hold files. */
export async function handOut(context: DaytonaContext, sandbox: Sandbox, { signal }: CallOptions = {}): Promise<void> {
  const { calls, settings } = context
  if (recordOf(sandbox.labels, settings.namespace)?.handedOut) return
  const labels = handedOutLabels(sandbox.labels)
  const what = `Sandbox ${sandbox.name}: its labels were not changed`
  await calls.run(what, () => sandbox.setLabels(labels), { signal, repeatable: true })
}
