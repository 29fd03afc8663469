import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import { ask, type OpenSandboxContext } from './service.ts'
import { DEFAULT_IMAGE } from './settings.ts'

const LIMIT_MS = 10_000

/** What `opensandbox` needs, each with what was found: the SDK, a server that takes the key. The image is known to the server alone. */
export async function probeOpenSandbox(
  connect: () => Promise<OpenSandboxContext>,
  options: CallOptions = {},
): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = []
  const failed = (name: string, error: unknown): ProbeStep[] => {
    const { message, hint } = toWorkspaceError(error)
    return [...steps, { name, ok: false, detail: message, ...(hint === undefined ? {} : { hint }) }]
  }
  let context: OpenSandboxContext
  try {
    context = await connect()
  } catch (error) {
    return failed('sdk', error)
  }
  const { address } = context.sdk
  try {
    const what = `The server at ${address}`
    await ask(context, what, api => api.listSandboxes({ pageSize: 1 }), { ...options, timeoutMs: LIMIT_MS })
  } catch (error) {
    return failed('server', error)
  }
  steps.push({ name: 'server', ok: true, detail: `OpenSandbox at ${address}` })
  const { image = DEFAULT_IMAGE, useServerProxy } = context.settings
  steps.push({
    name: 'sandboxes',
    ok: true,
    detail: `of ${image}, reached ${useServerProxy ? 'through the server' : 'directly'}`,
  })
  return steps
}
