import { parseDocument } from 'yaml'
import type { Frontmatter } from './reader-protocol.ts'

/** A header larger than this is no header. */
const MAX_HEADER_CHARS = 64 * 1024
const MAX_ALIASES = 20
/** Brackets within brackets; a parser of thousands runs out of stack. */
const MAX_DEPTH = 50

const FORM = 'Begin the file with ---, then name: and description:, then --- on a line of its own.'

/** Reads the YAML header of a `SKILL.md`. A header that is only YAML by a plain reader's eye (`description: Use: …`) is read, with a warning. */
export function parseFrontmatter(text: string): Frontmatter {
  const match = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, MAX_HEADER_CHARS))
  if (match === null) {
    const opened = /^\uFEFF?---/.test(text)
    return { unreadable: opened ? 'the frontmatter does not end' : 'there is no frontmatter', fix: FORM }
  }
  const header = (match[1] ?? '').replaceAll('\r\n', '\n')
  const body = text.slice(match[0].length).replace(/^(?:\r?\n)+/, '')
  try {
    return { fields: toObject(header), body, warnings: [] }
  } catch (error) {
    return leniently(header, { body, why: firstLine(error) })
  }
}

function leniently(header: string, { body, why }: { body: string; why: string }): Frontmatter {
  const quoted = header.replace(
    /^(name|description|compatibility|license):[ \t]+(?!["'|>&*[{])(.+)$/gm,
    (_, key: string, value: string) => `${key}: ${JSON.stringify(value.trim())}`,
  )
  const fix = 'Correct the YAML: a value with ": " or " #" in it needs quotes.'
  try {
    const fields = toObject(quoted)
    return { fields, body, warnings: [`The frontmatter is no valid YAML (${why}): read as plain text. ${fix}`] }
  } catch {
    return { unreadable: `the frontmatter is no valid YAML: ${why}`, fix }
  }
}

function toObject(header: string): Record<string, unknown> {
  if (depthOf(header) > MAX_DEPTH) throw new Error(`it has more than ${MAX_DEPTH} brackets within each other`)
  const document = parseDocument(header, { logLevel: 'silent', prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it has no fields')
  // As JSON, so that nothing but plain data leaves the reader.
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

function depthOf(header: string): number {
  let depth = 0
  let most = 0
  for (const character of header) {
    if (character === '[' || character === '{') most = Math.max(most, ++depth)
    else if ((character === ']' || character === '}') && depth > 0) depth -= 1
  }
  return most
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.replace(/:$/, '') ?? ''
