import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { CallContext } from '../../../src/gateway/dispatch.ts'
import { createFileService } from '../../../src/gateway/files/file-service.ts'
import type { Method } from '../../../src/gateway/protocol.ts'
import { createSearchService } from '../../../src/gateway/search/search-service.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import type { CallOptions } from '../../../src/link/gateway-client.ts'
import type { GatewayCalls } from '../../../src/workspace/environment-link.ts'
import { createOffload } from '../../../src/workspace/offload/offload.ts'

const made: string[] = []

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** An offload over the gateway's real file and search services, on a fresh root and workdir. */
export function offloadBench() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-offload-')))
  made.push(base)
  const [root, workdir] = ['root', 'project'].map(name => join(base, name)) as [string, string]
  for (const folder of [root, workdir]) mkdirSync(folder)
  const files = createFileService({ workdir, log: silentLogger })
  const search = createSearchService({ workdir, timeoutMs: 20_000, log: silentLogger })
  const handlers = { ...files.handlers, ...search.handlers } as unknown as Record<string, Handler>
  const calls: { method: string; params: Record<string, unknown> }[] = []
  const gateway = {
    async call(method: Method, params: Record<string, unknown>, options: CallOptions = {}) {
      calls.push({ method, params })
      return (await handlers[method]!(params, contextOf(options))) as never
    },
  } as unknown as GatewayCalls
  const asked = (method: string) => calls.filter(call => call.method === method)
  return { base, root, workdir, calls, asked, gateway, offload: createOffload(gateway, { root, workdir }) }
}

type Handler = (params: unknown, context: CallContext) => Promise<unknown>

function contextOf({ signal, onChunk, input }: CallOptions): CallContext {
  return {
    link: { id: 'link', owner: 'owner', env: {} },
    signal: signal ?? new AbortController().signal,
    attached: () => true,
    sendable: () => 1024 * 1024,
    send: async chunk => {
      await onChunk?.(chunk)
    },
    input: input ?? (async function* () {})(),
    onDetach() {},
  }
}
