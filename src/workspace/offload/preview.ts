import { isFields } from './data-block.ts'

/** Beginning and end of a text; `tail` is empty where nothing was left out. */
export interface Cut {
  head: string
  tail: string
  omitted: number
}

/** Keeps at most `head` and `tail` characters of a text, whole code points and, where that costs little, whole lines. */
export function headAndTail(text: string, { head, tail }: { head: number; tail: number }): Cut {
  if (text.length <= head + tail) return { head: text, tail: '', omitted: 0 }
  let end = head
  const lastLine = text.slice(0, head).lastIndexOf('\n') + 1
  if (lastLine > 0 && lastLine >= head * 0.75) end = lastLine
  else if (isHighSurrogate(text, end - 1)) end -= 1
  let start = text.length - tail
  const nextLine = text.indexOf('\n', start - 1) + 1
  if (nextLine > 0 && text.length - nextLine >= tail * 0.75) start = nextLine
  else if (isHighSurrogate(text, start - 1)) start += 1
  return { head: text.slice(0, end), tail: text.slice(start), omitted: start - end }
}

const RESULT_SHOWN = { head: 600, tail: 300 }
const GIST_CHARS = 160
const FIRST_SHOWN = 3

/** Beginning and end of an offloaded result. */
export function textPreview(text: string): string {
  const { head, tail, omitted } = headAndTail(text, RESULT_SHOWN)
  return omitted === 0 ? text : `${head}\n[… ${omitted} characters …]\n${tail}`
}

/** A line for each of the first messages and the last. */
export function messagesPreview(messages: readonly unknown[]): string {
  const shown = messages.length <= FIRST_SHOWN + 1 ? messages : messages.slice(0, FIRST_SHOWN)
  const lines = shown.map(gist)
  const left = messages.length - shown.length
  if (left > 0) lines.push(`[… ${left - 1} more …]`, gist(messages.at(-1)))
  return lines.join('\n')
}

function gist(message: unknown): string {
  const fields = isFields(message) ? message : {}
  const who = [fields.role, fields.type, fields.name].find(value => typeof value === 'string') ?? 'message'
  const text = gistText(fields.content ?? fields.parts ?? fields.output ?? fields.text)
    .replace(/\s+/g, ' ')
    .trim()
  const { head, omitted } = headAndTail(text, { head: GIST_CHARS, tail: 0 })
  return `${who}: ${head}${omitted === 0 ? '' : '…'}`
}

function gistText(content: unknown): string {
  if (typeof content === 'string') return content.slice(0, GIST_CHARS * 8)
  if (!Array.isArray(content)) return ''
  return content
    .slice(0, 8)
    .map(block => {
      if (!isFields(block)) return typeof block === 'string' ? block : ''
      return typeof block.text === 'string' ? block.text.slice(0, GIST_CHARS * 8) : `(${String(block.type ?? 'block')})`
    })
    .join(' ')
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800
}
