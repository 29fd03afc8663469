import type { Frontmatter } from './reader/reader-protocol.ts'

/** A header that makes a usable skill, or the rule that it breaks and how to mend it. */
export type Verdict =
  | { name: string; description: string; fields: Record<string, unknown>; body: string; warnings: string[] }
  | { rule: string; fix: string }

const MAX_NAME = 64
const MAX_DESCRIPTION = 1_024
const MAX_COMPATIBILITY = 500

/** Whether a name follows the format: 1–64 lower-case letters, digits and single hyphens between them. */
export const isRegularName = (name: string): boolean => name.length <= MAX_NAME && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)

/** Judges a header by the rules of the Agent Skills format: only what can't be used is refused, all else is a warning. */
export function judge(header: Frontmatter, folder?: string): Verdict {
  if ('unreadable' in header) return { rule: header.unreadable, fix: header.fix }
  const { fields, body } = header
  const name = required(fields.name)
  if (name === undefined)
    return { rule: 'the frontmatter has no name', fix: 'Add name: with lower-case letters, digits and hyphens.' }
  const description = required(fields.description)
  if (description === undefined)
    return { rule: 'the frontmatter has no description', fix: 'Add description: what it does and when to use it.' }
  const warnings = [...header.warnings, ...nameWarnings(name, folder), ...fieldWarnings(fields, description)]
  return { name, description, fields, body, warnings }
}

/** YAML reads `name: 42` as a number: the text is meant. */
function required(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
  return text === '' ? undefined : text
}

function nameWarnings(name: string, folder: string | undefined): string[] {
  const warnings: string[] = []
  if (name.length > MAX_NAME) warnings.push(`The name has ${name.length} characters; the format allows ${MAX_NAME}.`)
  else if (!isRegularName(name))
    warnings.push(`The name ${JSON.stringify(name)} should be lower-case letters, digits and single hyphens between them.`)
  if (folder !== undefined && folder !== name && !isFolderOf(folder, name))
    warnings.push(`The name ${JSON.stringify(name)} differs from its folder ${JSON.stringify(folder)}.`)
  return warnings
}

function fieldWarnings(fields: Record<string, unknown>, description: string): string[] {
  const { license, compatibility, metadata, 'allowed-tools': tools } = fields
  const warnings: string[] = []
  if (description.length > MAX_DESCRIPTION)
    warnings.push(`The description has ${description.length} characters; the format allows ${MAX_DESCRIPTION}.`)
  if (license !== undefined && typeof license !== 'string') warnings.push('license should be a text.')
  if (compatibility !== undefined && (typeof compatibility !== 'string' || compatibility === ''))
    warnings.push('compatibility should be a text.')
  else if (typeof compatibility === 'string' && compatibility.length > MAX_COMPATIBILITY)
    warnings.push(`compatibility has ${compatibility.length} characters; the format allows ${MAX_COMPATIBILITY}.`)
  if (metadata !== undefined && !isTextMap(metadata)) warnings.push('metadata should map texts to texts.')
  if (tools !== undefined && typeof tools !== 'string')
    warnings.push('allowed-tools should be one text with spaces between the tools.')
  return warnings
}

function isTextMap(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(one => typeof one === 'string')
}

const MAX_FOLDER_CHARS = 80

/** The folder that a skill of this name is kept in, unless it is taken. */
export function folderOf(name: string): string {
  return Array.from(name.replace(/[^\p{L}\p{N}_-]/gu, '_'))
    .slice(0, MAX_FOLDER_CHARS)
    .join('')
}

/** Whether a folder is the one of that name, with or without the number that tells it from another. */
function isFolderOf(folder: string, name: string): boolean {
  const plain = folderOf(name)
  return folder.startsWith(plain) && /^(_\d+)?$/.test(folder.slice(plain.length))
}

/** `base`, or with the first number that is free: `numbered(1)`, `numbered(2)`, … */
export function free(base: string, taken: (candidate: string) => boolean, numbered: (n: number) => string): string {
  if (!taken(base)) return base
  let n = 1
  while (taken(numbered(n))) n += 1
  return numbered(n)
}
