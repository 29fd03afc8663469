import { SERVER_INFO } from './static.ts'

/** An icon of the protocol. */
export interface Icon {
  src: string
  mimeType: string
  sizes: string[]
}

/** A page with a folded corner, and an open book, as SVG in base64: what data URIs of icons are. */
const PAGE =
  'PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHBhdGggZD0iTTQgMWg1bDQgNHYxME' +
  'g0eiIgZmlsbD0iIzFmNmZlYiIvPjxwYXRoIGQ9Ik05IDF2NGg0IiBmaWxsPSJub25lIiBzdHJva2U9IiNmZmYiLz48L3N2Zz4='
const BOOK =
  'PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHBhdGggZD0iTTIgMmg1bDEgMSAxLT' +
  'FoNXYxMUg5bC0xIDEtMS0xSDJ6IiBmaWxsPSIjMWY2ZmViIi8+PHBhdGggZD0iTTggM3YxMSIgc3Ryb2tlPSIjZmZmIi8+PC9zdmc+'

/** Icons of what menus show: prompts and templates. Tools and listed resources have none: their lists are read by models. */
export const WORKSPACE_ICONS: readonly Icon[] = SERVER_INFO.icons
export const FILE_ICONS: readonly Icon[] = [iconOf(PAGE)]
export const SKILL_ICONS: readonly Icon[] = [iconOf(BOOK)]

function iconOf(svg: string): Icon {
  return { src: `data:image/svg+xml;base64,${svg}`, mimeType: 'image/svg+xml', sizes: ['any'] }
}
