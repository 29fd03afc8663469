import type { CallOptions, UploadFile } from '../backend.ts'
import { openSandboxError } from './errors.ts'
import type { ExecdPlace } from './sdk.ts'
import { type AskOptions, ask, type OpenSandboxContext, senderFor, tryAgain } from './service.ts'

const EXECD_PORT = 44772
/** An upload of the gateway and a node may take so long. */
const UPLOAD_MS = 600_000

/** Where a running sandbox's own program is reached. It may change when the sandbox is resumed. */
export async function execdOf(context: OpenSandboxContext, id: string, options: AskOptions = {}): Promise<ExecdPlace> {
  const { sdk, settings } = context
  const proxy = settings.useServerProxy === true
  const found = await ask(context, `Sandbox ${id}`, api => api.getSandboxEndpoint(id, EXECD_PORT, proxy), options)
  return {
    url: `${sdk.protocol}://${found.endpoint.replace(/\/$/, '')}`,
    headers: { ...sdk.endpointHeaders, ...found.headers },
  }
}

/** Whether the program inside answers; a refusal that will not change by itself is thrown. */
export async function pings(context: OpenSandboxContext, place: ExecdPlace, options: AskOptions): Promise<boolean> {
  const { send } = senderFor(context, options)
  try {
    return await context.sdk.execd(place, send).health.ping()
  } catch (error) {
    const failure = openSandboxError(error, `The sandbox at ${place.url}`, options)
    if (failure.code === 'unauthenticated' || failure.code === 'permission_denied' || failure.code === 'cancelled') throw failure
    return false
  }
}

/** Writes files, one request for each; folders above them are made. */
export async function upload(
  context: OpenSandboxContext,
  place: ExecdPlace,
  files: readonly UploadFile[],
  options: CallOptions = {},
): Promise<void> {
  for (const { path, data, mode } of files) {
    await tryAgain(
      context,
      `Uploading ${path}`,
      // The program reads the digits of the number as octal ones.
      ({ send }) => context.sdk.execd(place, send).files.writeFiles([{ path, data, mode: Number(mode.toString(8)) }]),
      { ...options, timeoutMs: UPLOAD_MS },
    )
  }
}

/** A request of our own to the program inside, for what the SDK does not know. Throws what `fetch` throws, and for any other status than success. */
export async function request(
  context: OpenSandboxContext,
  { url, headers }: ExecdPlace,
  { method, path, body }: { method: string; path: string; body?: object },
  options: AskOptions = {},
): Promise<unknown> {
  const { send } = senderFor(context, options)
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await send(`${url}${path}`, { method, headers: { ...headers, 'content-type': 'application/json' }, ...json })
  const text = await response.text()
  if (response.ok) return text === '' ? undefined : JSON.parse(text)
  const { status: statusCode } = response
  throw Object.assign(new Error(text.slice(0, 300) || `status ${statusCode}`), { statusCode, rawBody: objectIn(text) })
}

/** An answer as the program inside gives it; `undefined` for one of a machine in between. */
function objectIn(text: string): object | undefined {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}
