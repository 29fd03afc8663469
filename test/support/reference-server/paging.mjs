import { RpcError } from './peer.mjs'

const PAGE = 7

/** One page of a list; cursors are opaque texts. */
export function paged(key, items, { cursor }) {
  const start = cursor === undefined ? 0 : Number(/^page-(\d+)$/.exec(cursor)?.[1] ?? Number.NaN)
  if (Number.isNaN(start)) throw new RpcError(-32602, `"${cursor}" is no cursor`)
  const end = start + PAGE
  return { [key]: items.slice(start, end), ...(end < items.length && { nextCursor: `page-${end}` }) }
}
