import type { GrepParams } from '../protocol.ts'
import { patternError } from './pattern-error.ts'

const POSIX: Record<string, string> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  word: 'A-Za-z0-9_',
  xdigit: '0-9A-Fa-f',
}

/** The pattern, written for ripgrep, as source and flags of a JavaScript one; `invalid_argument` for one that is wrong. */
export function jsPattern(params: GrepParams): { source: string; flags: string } {
  let flags = params.ignoreCase === true ? 'i' : ''
  if (params.multiline === true) flags += 'gms'
  const inline = /^\(\?([imsux]+)\)/.exec(params.pattern)
  const body = inline === null ? params.pattern : params.pattern.slice(inline[0].length)
  for (const flag of inline?.[1] ?? '') if ('ims'.includes(flag) && !flags.includes(flag)) flags += flag
  const source = translate(body)
  let reason = ''
  for (const mode of ['u', '']) {
    try {
      new RegExp(source, flags + mode)
      return { source, flags: flags + mode }
    } catch (error) {
      if (reason === '')
        reason = error instanceof Error ? error.message.replace(/^Invalid regular expression: \/.*\/\w*: /s, '') : String(error)
    }
  }
  throw patternError(params, `error: ${reason}`)
}

/** Spellings that JavaScript does not know: POSIX classes, `(?P<name>`, `\A`, `\z`, escapes of plain characters, lone `]` and `}`. */
function translate(pattern: string): string {
  let inClass = false
  let result = ''
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!
    if (char === '\\') {
      result += escaped(pattern[++i] ?? '', inClass)
    } else if (inClass) {
      const named = char === '[' ? /^\[:(\^?)(\w+):\]/.exec(pattern.slice(i)) : null
      const set = named === null || named[1] === '^' ? undefined : POSIX[named[2]!]
      if (set !== undefined) i += named![0].length - 1
      if (char === ']') inClass = false
      result += set ?? (char === '[' ? '\\[' : char)
    } else if (char === '[') {
      inClass = true
      const opening = /^\[\^?\]?/.exec(pattern.slice(i))![0]
      result += opening.endsWith(']') ? `${opening.slice(0, -1)}\\]` : opening
      i += opening.length - 1
    } else if (char === ']') result += '\\]'
    else if (char === '}' && !/\{\d*,?\d*$|\\[pPux]\{\w*(=\w*)?$/.test(result)) result += '\\}'
    else if (pattern.startsWith('(?P<', i)) {
      result += '(?<'
      i += 3
    } else result += char
  }
  return result
}

function escaped(char: string, inClass: boolean): string {
  if (char === 'A' && !inClass) return '(?<![\\s\\S])'
  if (char === 'z' && !inClass) return '(?![\\s\\S])'
  if (char === 'a') return '\\x07'
  if (/[\s"'#%&,:;<=>@_`~!]/.test(char)) return char
  if (char === '-') return inClass ? '\\-' : '-'
  return `\\${char}`
}
