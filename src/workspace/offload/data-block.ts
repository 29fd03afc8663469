import { type Blob, blobOf, parseDataUrl } from './blob.ts'

export type Fields = Record<string, unknown>

/** A reference to a blob, as it takes the place of data. */
export interface BlobReference {
  uri: string
  size: number
}

/** Data found in a block. */
export interface FoundData {
  blob: Blob
  /** The name that the block gives it. */
  name?: string
  /** The block with a reference in place of the data; all its other fields stay, in their order. */
  withReference(reference: BlobReference): Fields
}

type Finder = (block: Fields) => FoundData | undefined

const OCTETS = 'application/octet-stream'

export function isFields(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The data of one block in any of the known shapes: AgentScope, MCP, Anthropic, OpenAI and the AI SDK. */
export function dataOf(block: Fields): FoundData | undefined {
  for (const find of FINDERS) {
    const found = find(block)
    if (found !== undefined) return found
  }
  return undefined
}

function found(
  data: unknown,
  { mediaType, name }: { mediaType: unknown; name?: unknown },
  withReference: FoundData['withReference'],
): FoundData | undefined {
  const parsed = parseDataUrl(data)
  const type = parsed?.mediaType ?? (typeof mediaType === 'string' && mediaType !== '' ? mediaType : OCTETS)
  const raw = parsed?.data ?? (data instanceof ArrayBuffer ? new Uint8Array(data) : data)
  if (typeof raw !== 'string' && !(raw instanceof Uint8Array)) return undefined
  const blob = blobOf(raw, type)
  if (blob === undefined) return undefined
  return { blob, withReference, ...(typeof name === 'string' && name !== '' ? { name } : {}) }
}

/** AgentScope's data block and Anthropic's image and document: `source: {type: 'base64', data, media_type}`. */
const withSource: Finder = block => {
  const { source } = block
  if (!isFields(source) || source.type !== 'base64') return undefined
  const mediaType = source.media_type
  return found(source.data, { mediaType, name: block.name ?? block.title }, ({ uri }) => ({
    ...block,
    source: { type: 'url', url: uri, ...(mediaType === undefined ? {} : { media_type: mediaType }) },
  }))
}

/** MCP's image and audio: `data`, `mimeType`. */
const mcpMedia: Finder = block => {
  const { type, data, mimeType, ...rest } = block
  if ((type !== 'image' && type !== 'audio') || typeof data !== 'string') return undefined
  return found(data, { mediaType: mimeType, name: block.name }, ({ uri, size }) => {
    const name = typeof block.name === 'string' ? block.name : type
    return { type: 'resource_link', uri, name, ...(mimeType === undefined ? {} : { mimeType }), size, ...rest }
  })
}

/** MCP's embedded resource: `resource: {uri, blob, mimeType}`. */
const mcpResource: Finder = block => {
  const { resource, ...rest } = block
  if (block.type !== 'resource' || !isFields(resource) || typeof resource.blob !== 'string') return undefined
  const { uri: origin, mimeType } = resource
  return found(resource.blob, { mediaType: mimeType, name: origin }, ({ uri, size }) => {
    const link = { ...rest, type: 'resource_link', uri, name: typeof origin === 'string' ? origin : 'resource' }
    return { ...link, ...(mimeType === undefined ? {} : { mimeType }), size }
  })
}

/** OpenAI's Chat: `image_url: {url}`, `input_audio: {data, format}`, `file: {file_data, filename}`. */
const openAiChat: Finder = block => {
  const { image_url: image, input_audio: audio, file } = block
  if (isFields(image) && parseDataUrl(image.url) !== undefined)
    return found(image.url, { mediaType: '' }, ({ uri }) => ({ ...block, image_url: { ...image, url: uri } }))
  if (isFields(audio) && typeof audio.data === 'string') {
    const mediaType = audio.format === 'wav' ? 'audio/x-wav' : audio.format === 'mp3' ? 'audio/mpeg' : `audio/${audio.format}`
    return found(audio.data, { mediaType }, ({ uri }) => {
      const { data: _, ...rest } = audio
      return { ...block, input_audio: { url: uri, ...rest } }
    })
  }
  if (isFields(file) && typeof file.file_data === 'string')
    return found(file.file_data, { mediaType: '', name: file.filename }, ({ uri }) => ({
      ...block,
      file: { ...file, file_data: uri },
    }))
  return undefined
}

/** OpenAI's Responses: `image_url` and `file_data` as texts, and the `result` of a generated image. */
const openAiResponses: Finder = block => {
  if (parseDataUrl(block.image_url) !== undefined)
    return found(block.image_url, { mediaType: '' }, ({ uri }) => ({ ...block, image_url: uri }))
  if (typeof block.file_data === 'string')
    return found(block.file_data, { mediaType: '', name: block.filename }, ({ uri }) => ({ ...block, file_data: uri }))
  if (block.type === 'image_generation_call' && typeof block.result === 'string')
    return found(block.result, { mediaType: 'image/png' }, ({ uri }) => ({ ...block, result: uri }))
  return undefined
}

const AI_SDK_TYPES = new Set(['image', 'file', 'media', 'image-data', 'file-data', 'reasoning-file'])

/** The AI SDK's parts: `image`, `data` or `url`, as a `data:` URL, base64 or bytes. */
const aiSdk: Finder = block => {
  if (typeof block.type !== 'string' || !AI_SDK_TYPES.has(block.type)) return undefined
  const about = { mediaType: block.mediaType ?? block.mimeType, name: block.filename }
  for (const key of ['image', 'data', 'url']) {
    const value = block[key]
    if (value === undefined || (key === 'url' && parseDataUrl(value) === undefined)) continue
    const mediaType = about.mediaType ?? (key === 'image' ? 'image/png' : undefined)
    return found(value, { ...about, mediaType }, ({ uri }) => ({ ...block, [key]: uri }))
  }
  return undefined
}

const FINDERS: readonly Finder[] = [withSource, mcpMedia, mcpResource, openAiChat, openAiResponses, aiSdk]
