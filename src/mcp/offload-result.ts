import { randomBytes } from 'node:crypto'
import { toWorkspaceError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { formatBytes } from '../tools/units.ts'
import type { WorkspaceLimits } from '../workspace/limits.ts'
import type { Offload } from '../workspace/offload/offloader.ts'
import { headAndTail } from '../workspace/offload/preview.ts'
import { isObject } from './shape.ts'

type Params = Record<string, unknown>
type OffloadLimits = Pick<WorkspaceLimits, 'offloadChars' | 'offloadMediaBytes'>

/** What a result that may be too large came from, and where it may go. */
export interface LargeResult {
  tool: string
  /** The parameters of `tools/call`. */
  params: Params
  limits: OffloadLimits
  /** Folder under `sessions/`. */
  conversation: string
  /** The client's tool list has a schema for the result: `structuredContent` has to stay. */
  keepStructured?: boolean
  offload(): Promise<Offload>
  signal?: AbortSignal | undefined
  logger: Logger
}

/** Key of a call's `_meta`: `false` gives the result whole, whatever its size. */
const OFFLOAD_KEY = 'atelier/offload'
/** Key of a client's `capabilities.experimental`: it handles results of any size. */
const LARGE_RESULTS_KEY = 'atelier/large-results'
/** Key of a tool's `_meta`: the size that it asks clients to keep. */
const MAX_RESULT_KEY = 'anthropic/maxResultSizeChars'
/** Key of a call's `_meta` by which some clients name the call. */
const CALL_ID_KEY = 'claudecode/toolUseId'
const LARGEST_ASKED = 500_000
const HEAD_CHARS = 4_000
const TAIL_CHARS = 2_000

/** Whether a client said in `initialize` that it handles large results itself. */
export function handlesLargeResults(initialize: unknown): boolean {
  const { capabilities } = isObject(initialize) ? initialize : {}
  const { experimental } = isObject(capabilities) ? capabilities : {}
  return isObject(experimental) && experimental[LARGE_RESULTS_KEY] !== undefined && experimental[LARGE_RESULTS_KEY] !== false
}

/** The limits with what a nested tool's own declaration asks for. */
export function limitsFor(tool: Params | undefined, limits: OffloadLimits): OffloadLimits {
  const asked = isObject(tool?._meta) ? tool._meta[MAX_RESULT_KEY] : undefined
  if (typeof asked !== 'number' || limits.offloadChars === 0) return limits
  return { ...limits, offloadChars: Math.max(limits.offloadChars, Math.min(asked, LARGEST_ASKED)) }
}

/** Whether a result has to be offloaded; costs little, so that it can be asked of every result. */
export function isTooLarge(result: Params, { params, limits }: Pick<LargeResult, 'params' | 'limits'>): boolean {
  if (limits.offloadChars === 0 || (isObject(params._meta) && params._meta[OFFLOAD_KEY] === false)) return false
  const blocks = blocksOf(result)
  const text = sumOf(blocks)
  if (text > limits.offloadChars || blocks.some(block => isLargeMedia(block, limits))) return true
  return text + structuredChars(result) > limits.offloadChars
}

/**
 * The result with head, tail, path and URI in place of what is too large; `_meta`, `isError`, links and images of a bearable
 * size stay. A result that can't be kept is given whole, and that is logged: nothing is ever lost.
 */
export async function offloadResult(result: Params, large: LargeResult): Promise<Params> {
  if (!isTooLarge(result, large)) return result
  try {
    const light = await withoutLargeMedia(result, large)
    return isTooLarge(light, large) ? await withoutText(light, large) : light
  } catch (thrown) {
    const { message } = toWorkspaceError(thrown)
    large.logger.warn({ tool: large.tool, error: message }, 'a large result could not be offloaded')
    return result
  }
}

async function withoutLargeMedia(result: Params, { limits, offload, signal }: LargeResult): Promise<Params> {
  const content: unknown[] = []
  for (const block of blocksOf(result)) {
    if (!isLargeMedia(block, limits)) {
      content.push(block)
      continue
    }
    const { block: link, blob } = await (await offload()).offloadDataBlock(block, { signal })
    if (blob !== undefined)
      content.push({ type: 'text', text: `[${blob.mediaType}, ${formatBytes(blob.size)}, is in ${blob.path} (${blob.uri})]` })
    content.push(link)
  }
  return { ...result, content }
}

async function withoutText(result: Params, large: LargeResult): Promise<Params> {
  const { structuredContent, ...rest } = result
  const { limits, signal } = large
  const blocks = blocksOf(result)
  const keep = large.keepStructured === true || structuredChars(result) <= limits.offloadChars / 2
  const moved = blocks.filter(block => isText(block))
  // What is large is the part that has to stay: moving the rest would gain nothing.
  if (large.keepStructured === true && sumOf(blocks) <= limits.offloadChars) return result
  const whole = { id: callId(large), content: moved, ...(keep ? {} : { structuredContent }) }
  const { path, uri, size } = await (await large.offload()).offloadToolResult(large.conversation, whole, { signal })
  const text = moved.length === 0 ? JSON.stringify(structuredContent, null, 2) : moved.map(textOf).join('')
  const name = path.slice(path.lastIndexOf('/') + 1)
  return {
    ...rest,
    content: [
      { type: 'text', text: shortened(text, { limits, path, uri, size }) },
      ...blocks.filter(block => !isText(block)),
      { type: 'resource_link', uri, name, mimeType: 'text/plain', size },
    ],
    ...(keep && structuredContent !== undefined ? { structuredContent } : {}),
  }
}

function shortened(
  text: string,
  { limits, path, uri, size }: { limits: OffloadLimits; path: string; uri: string; size: number },
): string {
  const { head, tail, omitted } = headAndTail(text, {
    head: Math.min(HEAD_CHARS, Math.floor(limits.offloadChars * 0.4)),
    tail: Math.min(TAIL_CHARS, Math.floor(limits.offloadChars * 0.2)),
  })
  const left = omitted === 0 ? '' : `… ${omitted} characters left out. `
  const notice = `[${left}The whole result (${formatBytes(size)}) is in ${path}: Read it in parts, or Grep it. ${uri}]`
  return [head, notice, tail]
    .filter(part => part !== '')
    .map(part => part.replace(/^\n|\n$/g, ''))
    .join('\n')
}

function callId({ tool, params }: LargeResult): string {
  const given = isObject(params._meta) ? params._meta[CALL_ID_KEY] : undefined
  return typeof given === 'string' && given !== '' ? given : `${tool}-${randomBytes(4).toString('hex')}`
}

function blocksOf({ content }: Params): Params[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

function isText(block: Params): boolean {
  return block.type === 'text' || block.type === 'resource'
}

function isLargeMedia({ type, data }: Params, { offloadMediaBytes }: OffloadLimits): boolean {
  return (type === 'image' || type === 'audio') && typeof data === 'string' && data.length > offloadMediaBytes
}

function sumOf(blocks: readonly Params[]): number {
  return blocks.reduce((sum, block) => sum + textChars(block), 0)
}

function textChars(block: Params): number {
  const { text, blob } = isObject(block.resource) ? block.resource : block
  return (typeof text === 'string' ? text.length : 0) + (typeof blob === 'string' ? blob.length : 0)
}

function textOf(block: Params): string {
  const { text, uri } = isObject(block.resource) ? block.resource : block
  return typeof text === 'string' ? text : `[data of ${String(uri)}]`
}

function structuredChars({ structuredContent }: Params): number {
  return structuredContent === undefined ? 0 : JSON.stringify(structuredContent).length
}
