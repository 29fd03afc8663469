import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { CommandHandle, Sandbox } from './sdk.ts'

/** Bytes to a process's standard input, in order. */
export interface Input {
  /** Resolves when they are handed on. A failure leaves open how many arrived. */
  write(data: Uint8Array): Promise<void>
  end(): Promise<void>
  close(): void
}

/** One request for each write, one after the other: sent at once they arrive in any order. */
export function requestInput(handle: CommandHandle): Input {
  return {
    write: data => handle.sendStdin(data),
    end: () => handle.closeStdin(),
    close() {},
  }
}

/** Where the program inside listens, which the SDK keeps to itself. */
interface Address {
  envdApiUrl?: unknown
  envdAccessToken?: unknown
}

const HEADER = 5

function envelope(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(HEADER)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/**
 * One request whose body never ends carries all writes (`StreamInput` of the service's own protocol, which the SDK does not call).
 * `undefined` where the SDK hides the address. `failed` hears once why there will be no more, and whether that was the service's answer.
 */
export function streamInput(
  sandbox: Sandbox,
  handle: CommandHandle,
  failed: (error: Error, answered: boolean) => void,
): Input | undefined {
  const { envdApiUrl, envdAccessToken } = sandbox as unknown as Address
  if (typeof envdApiUrl !== 'string') return undefined
  const url = new URL('/process.Process/StreamInput', envdApiUrl)
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    // No pool: this connection is busy for as long as the stream lives.
    agent: false,
    headers: {
      ...{ 'content-type': 'application/connect+json', 'connect-protocol-version': '1' },
      ...{ 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '49983' },
      ...(typeof envdAccessToken === 'string' ? { 'x-access-token': envdAccessToken } : {}),
    },
  })
  const over = watch(request, failed)
  request.setNoDelay(true)
  request.write(envelope({ start: { process: { pid: handle.pid } } }))
  return {
    write: data =>
      new Promise((resolve, reject) => {
        const stdin = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
        request.write(envelope({ data: { input: { stdin } } }), error => (error ? reject(error) : resolve()))
      }),
    async end() {
      // It is answered when all of it has arrived; the end of input must not overtake that.
      request.end()
      await over
      await handle.closeStdin()
    },
    close: () => void request.destroy(),
  }
}

/** Resolves when the request is over. An answer before its end means that nobody takes the rest. */
function watch(request: ClientRequest, failed: (error: Error, answered: boolean) => void): Promise<void> {
  return new Promise(resolve => {
    const over = (error: Error, answered = false): void => {
      if (!request.writableEnded) failed(error, answered)
      resolve()
    }
    request.once('error', error => over(error))
    request.once('response', response => {
      response.resume()
      over(new Error(`the input was answered with status ${response.statusCode}`), true)
    })
    request.once('close', () => over(new Error('the input was closed')))
  })
}
