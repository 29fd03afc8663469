import { statSync } from 'node:fs'

/** State that a shell left at its end; every text is bytes, one character each. */
export interface ShellDump {
  /** Empty where the directory was gone. */
  cwd: string
  /** `export -p` as printed. */
  exports: string
  /** Exported functions as printed; always empty for sh. */
  functions: string
  exitCode: number
}

/** Reads the dump of run `run`; anything but a whole dump of that very run is refused. */
export function parseDump(raw: string, run: string, kind: 'bash' | 'sh'): ShellDump | undefined {
  const start = `\x01${run}\0`
  const end = `\0${run}\x02`
  const stop = raw.indexOf(end, start.length)
  if (!raw.startsWith(start) || stop < 0) return undefined
  const fields = raw.slice(start.length, stop).split('\0')
  if (fields.length !== (kind === 'bash' ? 4 : 5)) return undefined
  const [logical = '', ...rest] = fields
  const cwd = kind === 'bash' ? dropNewline(logical) : logicalOrPhysical(dropNewline(logical), dropNewline(rest.shift() ?? ''))
  const exitCode = Number(rest[2])
  if ((cwd !== '' && !cwd.startsWith('/')) || !Number.isInteger(exitCode)) return undefined
  return { cwd, exports: rest[0] ?? '', functions: rest[1] ?? '', exitCode }
}

/** The variables of an `export -p` listing; those without a value, and arrays, are not among them. */
export function parseExports(listing: string): Map<string, string> {
  const variables = new Map<string, string>()
  const head = /(?:export|declare)(?: -(\w+))? ([A-Za-z_]\w*)(=?)/y
  let at = 0
  while (at < listing.length) {
    head.lastIndex = at
    const match = head.exec(listing)
    if (!match) {
      at = nextLine(listing, at)
      continue
    }
    const value = parseWord(listing, head.lastIndex)
    if (match[3] === '=' && !/[aA]/.test(match[1] ?? '')) variables.set(match[2] as string, value.text)
    at = value.end + 1
  }
  return variables
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

/** A shell word of any mix of quotes, up to the newline after it. */
function parseWord(text: string, from: number): { text: string; end: number } {
  let out = ''
  let at = from
  while (at < text.length && text[at] !== '\n') {
    const piece = parsePiece(text, at)
    out += piece.text
    at = piece.end
  }
  return { text: out, end: at }
}

function parsePiece(text: string, at: number): { text: string; end: number } {
  if (text.startsWith("$'", at)) return parseAnsi(text, at + 2)
  if (text[at] === "'") {
    const end = text.indexOf("'", at + 1)
    return end < 0 ? { text: text.slice(at + 1), end: text.length } : { text: text.slice(at + 1, end), end: end + 1 }
  }
  if (text[at] === '"') return parseDouble(text, at + 1)
  if (text[at] === '\\') return { text: text[at + 1] ?? '', end: at + 2 }
  return { text: text[at] as string, end: at + 1 }
}

function parseDouble(text: string, from: number): { text: string; end: number } {
  const plain = /[^"\\]*/y
  let out = ''
  let at = from
  while (at < text.length) {
    plain.lastIndex = at
    out += plain.exec(text)?.[0] ?? ''
    at = plain.lastIndex
    if (text[at] !== '\\') return { text: out, end: at + 1 }
    const next = text[at + 1] ?? ''
    out += '"\\$`'.includes(next) ? next : next === '\n' ? '' : `\\${next}`
    at += 2
  }
  return { text: out, end: at }
}

const ANSI: Record<string, string> = { a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function parseAnsi(text: string, from: number): { text: string; end: number } {
  const sequence = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([\s\S]))/y
  let out = ''
  let at = from
  while (at < text.length && text[at] !== "'") {
    if (text[at] !== '\\') {
      out += text[at++]
      continue
    }
    sequence.lastIndex = at
    const match = sequence.exec(text)
    if (!match) break
    if (match[1] !== undefined) out += String.fromCharCode(Number.parseInt(match[1], 8) & 255)
    else if (match[2] !== undefined) out += String.fromCharCode(Number.parseInt(match[2], 16))
    else out += ANSI[match[3] as string] ?? match[3]
    at = sequence.lastIndex
  }
  return { text: out, end: at + 1 }
}

function dropNewline(line: string): string {
  return line.endsWith('\n') ? line.slice(0, -1) : line
}

/** sh does not check its own idea of the directory: it counts only where it is still the same one. */
function logicalOrPhysical(logical: string, physical: string): string {
  try {
    const a = statSync(Buffer.from(logical, 'latin1'))
    const b = statSync(Buffer.from(physical, 'latin1'))
    return a.ino === b.ino && a.dev === b.dev ? logical : physical
  } catch {
    return physical
  }
}
