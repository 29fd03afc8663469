import { isObject } from './shape.ts'

type Params = Record<string, unknown>

const CURRENT = 'workspace:///'

/** A result whose links to the current workspace (`workspace:///…`) lead to the workspace `id`, in its text too. */
export function namedLinks(result: Params, id: string): Params {
  const content = Array.isArray(result.content) ? result.content : []
  const links = content.flatMap(block => (isObject(block) && block.type === 'resource_link' ? [String(block.uri)] : []))
  const current = links.filter(uri => uri.startsWith(CURRENT))
  if (current.length === 0) return result
  return { ...result, content: content.map(block => (isObject(block) ? withLinks(block, current, id) : block)) }
}

function withLinks(block: Params, uris: readonly string[], id: string): Params {
  const named = (uri: string): string => `workspace://${encodeURIComponent(id)}/${uri.slice(CURRENT.length)}?root`
  const { uri, text } = block
  if (block.type === 'resource_link' && uris.includes(String(uri))) return { ...block, uri: named(String(uri)) }
  if (block.type !== 'text' || typeof text !== 'string') return block
  return { ...block, text: uris.reduce((shown, link) => shown.replaceAll(link, named(link)), text) }
}
