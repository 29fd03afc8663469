import { WorkspaceError } from '../../lib/errors.ts'
import type { Blob } from './blob.ts'
import { type Fields, isFields } from './data-block.ts'
import { replaceData } from './replace-data.ts'

/** A tool's result, whichever library it came from. */
export interface ToolResult {
  id: string
  /** Text, blocks, or any other JSON value. */
  output: unknown
  /** Facts that an MCP result gives beside its content. */
  structured?: unknown
}

const ID_KEYS = ['id', 'tool_use_id', 'tool_call_id', 'call_id', 'toolCallId', 'callId']
const OUTPUT_KEYS = ['output', 'content', 'result', 'text']

/**
 * Reads AgentScope's `tool_result`, MCP's `CallToolResult` (with an `id`), Anthropic's `tool_result`, OpenAI's `tool` message and
 * `function_call_output`, and the AI SDK's `tool-result`. Throws `invalid_argument` where no id or no output is found.
 */
export function readToolResult(result: unknown): ToolResult {
  if (!isFields(result)) throw unreadable('it is no object')
  const id = ID_KEYS.map(key => result[key]).find(value => typeof value === 'string' && value !== '')
  if (id === undefined) throw unreadable(`it has no id (${ID_KEYS.join(', ')})`)
  const key = OUTPUT_KEYS.find(name => result[name] !== undefined)
  const structured = result.structuredContent
  if (key === undefined && structured === undefined) throw unreadable(`it has no output (${OUTPUT_KEYS.join(', ')})`)
  const output = key === undefined ? [] : unwrapped(result[key])
  return { id: id as string, output, ...(structured === undefined ? {} : { structured }) }
}

/** The text of a result in AgentScope's form: texts joined with nothing between, data as tags. Data is added to `blobs`. */
export function resultText({ output, structured }: Omit<ToolResult, 'id'>, blobs: Map<string, Blob>): string {
  const text = typeof output === 'string' ? output : outputText(replaceData(output, blobs))
  if (structured === undefined || containsJson(output, structured)) return text
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${JSON.stringify(structured, null, 2)}\n`
}

/** The AI SDK's output: `{type: 'text' | 'json' | 'content' | …, value}`. */
function unwrapped(output: unknown): unknown {
  return isFields(output) && typeof output.type === 'string' && 'value' in output ? output.value : output
}

function outputText(output: unknown): string {
  if (typeof output === 'string') return output
  if (Array.isArray(output) && output.every(block => typeof block === 'string' || (isFields(block) && 'type' in block)))
    return output.map(block => (typeof block === 'string' ? block : blockText(block))).join('')
  return JSON.stringify(output, null, 2) ?? ''
}

function blockText(block: Fields): string {
  if (typeof block.text === 'string') return block.text
  const { resource } = block
  if (isFields(resource) && typeof resource.text === 'string') return resource.text
  const link = linkOf(block)
  if (link === undefined) return JSON.stringify(block)
  return `<data url='${link.url}' name='${link.name ?? 'None'}' media_type='${link.mediaType ?? ''}'/>`
}

/** Where a block that refers to data leads, after its own data has been replaced. */
function linkOf(block: Fields): { url: string; name: unknown; mediaType: unknown } | undefined {
  const { source, image_url: image, file, input_audio: audio } = block
  const holder = [source, image, file, audio].find(isFields) ?? {}
  const url = [holder.url, holder.file_data, block.uri, block.url, image, block.image, block.data, block.file_data].find(
    value => typeof value === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(value),
  )
  if (url === undefined) return undefined
  const name = block.name ?? block.filename ?? holder.filename
  const mediaType = holder.media_type ?? block.mimeType ?? block.mediaType
  return { url: url as string, name, mediaType }
}

/** Whether one of the texts is the structured content as JSON already. */
function containsJson(output: unknown, structured: unknown): boolean {
  const blocks = Array.isArray(output) ? output : [{ text: output }]
  const wanted = JSON.stringify(structured)
  return blocks.some(block => {
    const text: unknown = isFields(block) ? block.text : undefined
    if (typeof text !== 'string' || !/^\s*[[{"\d]/.test(text)) return false
    try {
      return JSON.stringify(JSON.parse(text)) === wanted
    } catch {
      return false
    }
  })
}

function unreadable(why: string): WorkspaceError {
  return new WorkspaceError('invalid_argument', `The tool result can't be offloaded: ${why}.`, {
    hint: "Give {id, output}, with text or blocks as output, or one library's own form of a result.",
  })
}
