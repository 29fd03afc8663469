import { WorkspaceError } from '../../lib/errors.ts'
import { nearest } from '../../lib/suggest.ts'

/** Cursor keys, and what stands after `ESC [` or, for a full-screen program, `ESC O`. */
const CURSOR: Readonly<Record<string, string>> = { up: 'A', down: 'B', right: 'C', left: 'D', home: 'H', end: 'F' }
/** Keys with a number: `ESC [ number ~`. */
const NUMBERED: Readonly<Record<string, number>> = {
  insert: 2,
  delete: 3,
  'page-up': 5,
  'page-down': 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
}
const FUNCTION: Readonly<Record<string, string>> = { f1: 'P', f2: 'Q', f3: 'R', f4: 'S' }
const PLAIN: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  esc: '\x1b',
  space: ' ',
  backspace: '\x7f',
  'shift-tab': '\x1b[Z',
}
const ALIASES: Readonly<Record<string, string>> = {
  return: 'enter',
  escape: 'esc',
  del: 'delete',
  ins: 'insert',
  pageup: 'page-up',
  pgup: 'page-up',
  pagedown: 'page-down',
  pgdn: 'page-down',
  'back-space': 'backspace',
}
/** With ctrl, where that is no letter's code: as terminals have it. */
const CONTROLLED: Readonly<Record<string, string>> = {
  ' ': '\0',
  '?': '\x7f',
  '/': '\x1f',
  '\x7f': '\b',
  '2': '\0',
  '3': '\x1b',
  '4': '\x1c',
  '5': '\x1d',
  '6': '\x1e',
  '7': '\x1f',
  '8': '\x7f',
}
const MODIFIERS: Readonly<Record<string, number>> = { shift: 1, alt: 2, ctrl: 4 }

/** Names of keys, one by one or together with blanks between them. */
export function keyNames(keys: string): string[] {
  return keys.split(/\s+/).filter(name => name !== '')
}

/** Whether what these keys send depends on the program that reads them. */
export function needScreen(names: readonly string[]): boolean {
  return names.some(name => canonical(name) in CURSOR)
}

/** What named keys send; a single character is itself. Throws `invalid_argument` for a key that there is none of. */
export function encodeKeys(names: readonly string[], options: { applicationCursor: boolean }): string {
  return names.map(name => encode(name, options)).join('')
}

function encode(name: string, { applicationCursor }: { applicationCursor: boolean }): string {
  const key = canonical(name)
  if ([...name].length === 1) return name
  const plain = PLAIN[key]
  if (plain !== undefined) return plain
  const cursor = CURSOR[key]
  if (cursor !== undefined) return `\x1b${applicationCursor ? 'O' : '['}${cursor}`
  const sent = special(key, 0) ?? modified(key)
  if (sent !== undefined) return sent
  throw unknown(name)
}

/** A key with `ctrl-`, `alt-`, `shift-` before it. */
function modified(key: string): string | undefined {
  const match = /^((?:(?:ctrl|alt|shift)-)+)(.+)$/.exec(key)
  if (match === null) return undefined
  const [, before = '', rest = ''] = match
  const base = ALIASES[rest] ?? rest
  const held = before.split('-').filter(name => name !== '')
  const sum = held.reduce((bits, name) => bits | (MODIFIERS[name] ?? 0), 0)
  const found = special(base, sum)
  if (found !== undefined) return found
  const character = (sum & 1 ? PLAIN[`shift-${base}`] : undefined) ?? PLAIN[base] ?? ([...base].length === 1 ? base : undefined)
  if (character === undefined) return undefined
  const shifted = sum & 1 ? character.toUpperCase() : character
  return `${sum & 2 ? '\x1b' : ''}${sum & 4 ? control(character) : shifted}`
}

/** Keys that send a sequence, which names the modifiers. */
function special(key: string, modifiers: number): string | undefined {
  const number = NUMBERED[key]
  if (number !== undefined) return `\x1b[${number}${modifiers === 0 ? '' : `;${modifiers + 1}`}~`
  const letter = FUNCTION[key]
  if (letter !== undefined) return modifiers === 0 ? `\x1bO${letter}` : `\x1b[1;${modifiers + 1}${letter}`
  const cursor = CURSOR[key]
  return cursor === undefined || modifiers === 0 ? undefined : `\x1b[1;${modifiers + 1}${cursor}`
}

/** What ctrl makes of a key; the key itself where terminals have no code for both. */
function control(key: string): string {
  const code = CONTROLLED[key]
  if (code !== undefined) return code
  const upper = key.toUpperCase()
  return /^[@-_]$/.test(upper) ? String.fromCharCode(upper.charCodeAt(0) & 0x1f) : key
}

function canonical(name: string): string {
  const lower = name
    .toLowerCase()
    .replaceAll(/_(?=.)/g, '-')
    .replace(/^(c|control)-/, 'ctrl-')
    .replace(/^(m|meta)-/, 'alt-')
  return ALIASES[lower] ?? lower
}

function unknown(name: string): WorkspaceError {
  const names = [
    ...Object.keys(PLAIN),
    ...Object.keys(CURSOR),
    ...Object.keys(NUMBERED),
    ...Object.keys(FUNCTION),
    'ctrl-c',
    'ctrl-d',
  ]
  const near = nearest(name.toLowerCase(), names)
  return new WorkspaceError(
    'invalid_argument',
    `There is no key "${name}".${near === undefined ? '' : ` Did you mean ${near}?`}`,
    {
      hint: 'Keys are enter, tab, esc, space, backspace, delete, insert, up, down, left, right, home, end, page-up, page-down, f1 to f12, single characters, and ctrl-, alt- or shift- with one of them; blanks between them. Words go into "text".',
    },
  )
}
