import type { CallOptions, ProbeStep } from '../backend.ts'
import { Probe } from '../probe.ts'
import { openSandboxError } from './errors.ts'
import { type OpenSandboxContext, senderFor } from './service.ts'
import { DEFAULT_IMAGE } from './settings.ts'

const ADDRESS_HINT = 'See whether opensandbox.domain is the address of an OpenSandbox server, and its log.'

/** What `opensandbox` needs, each with what was found: the SDK, a server that takes the key. The image is known to the server alone. */
export async function probeOpenSandbox(
  connect: () => Promise<OpenSandboxContext>,
  { signal }: CallOptions = {},
): Promise<ProbeStep[]> {
  const probe = new Probe()
  const context = await probe.connect('configured', connect, {
    found: ({ settings }) => (settings.apiKey === undefined ? 'without an API key' : 'an API key is set'),
    signal,
  })
  if (context === undefined) return probe.steps
  const { sdk, settings } = context
  const what = `The server at ${sdk.address}`
  const list = (end: AbortSignal) =>
    sdk
      .sandboxes(senderFor({ settings }, { signal: end }).send)
      .listSandboxes({ pageSize: 1 })
      .catch(error => {
        throw openSandboxError(error, what)
      })
  if (!(await probe.reach(`OpenSandbox at ${sdk.address}`, list, { hint: ADDRESS_HINT, signal }))) return probe.steps
  const { image = DEFAULT_IMAGE, useServerProxy } = settings
  const way = useServerProxy ? 'through the server' : 'directly'
  probe.steps.push({
    name: 'image',
    ok: true,
    detail: `${image}, pulled by the server at the first use; sandboxes are reached ${way}`,
  })
  return probe.steps
}
