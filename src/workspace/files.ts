import type { CallOptions } from '../link/gateway-client.ts'
import { type Confinement, confineTo } from './confinement.ts'
import type { GatewayCalls } from './environment-link.ts'
import type { WorkspaceLimits } from './limits.ts'
import type { Files } from './ports.ts'

/** Largest range of one `file.bytes` call. */
const RANGE_BYTES = 1024 ** 2
/** Entries given of one directory. */
const LIST_MAX_ENTRIES = 10_000

/** Reads and changes files through a gateway, within the workspace's limits and its confinement. */
export function createFiles(gateway: GatewayCalls, place: Confinement, limits: WorkspaceLimits): Files {
  const reading = <P extends { path: string }>(params: P) => ({ ...params, ...confineTo(params.path, place, 'read') })
  const writing = <P extends { path: string }>(params: P) => ({ ...params, ...confineTo(params.path, place, 'write') })
  const bounds = { maxBytes: limits.readMaxBytes, maxLineBytes: limits.readMaxLineBytes }
  return {
    workdir: place.workdir,
    read(params, options) {
      const limit = Math.min(params.limit ?? limits.readMaxLines, limits.readMaxLines)
      return gateway.call('file.read', { ...reading(params), ...bounds, limit }, options)
    },
    write: (params, options) => gateway.call('file.write', writing(params), options),
    edit: (params, options) => gateway.call('file.edit', writing(params), options),
    stat: (path, options) => gateway.call('file.stat', reading({ path }), options),
    list: (path, options) => gateway.call('file.list', { ...reading({ path }), limit: LIST_MAX_ENTRIES }, options),
    bytes: (path, range, options) => readRange(gateway, { ...reading({ path }), ...range }, options),
    get: (path, sink, options) => gateway.call('file.get', reading({ path }), { signal: options?.signal, onChunk: sink }),
    put(path, source, { signal, mode } = {}) {
      return gateway.call(
        'file.put',
        { ...writing({ path }), ...(mode === undefined ? {} : { mode }) },
        { signal, input: source },
      )
    },
    async remove(path, { signal, recursive } = {}) {
      const params = { ...writing({ path }), ...(recursive === undefined ? {} : { recursive }) }
      return (await gateway.call('file.remove', params, { signal })).removed
    },
    async mkdir(path, options) {
      await gateway.call('file.mkdir', writing({ path }), options)
    },
  }
}

interface RangeParams {
  path: string
  confine?: string
  offset: number
  length: number
}

/** A range of any length, in calls of at most 1 MiB; shorter where the file ends. */
async function readRange(gateway: GatewayCalls, params: RangeParams, options?: CallOptions) {
  const parts: Buffer[] = []
  const end = params.offset + params.length
  let offset = params.offset
  for (;;) {
    const length = Math.min(RANGE_BYTES, end - offset)
    const { data, ...file } = await gateway.call('file.bytes', { ...params, offset, length }, options)
    const part = Buffer.from(data, 'base64')
    parts.push(part)
    offset += part.length
    if (part.length < length || offset >= end) return { ...file, data: new Uint8Array(Buffer.concat(parts)) }
  }
}
