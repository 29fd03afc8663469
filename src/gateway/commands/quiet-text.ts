import type { PreparedState } from './child-env.ts'

/** Builtins and reserved words of bash that may change what carries over, or hide the word that does. */
const CHANGING = new Set(
  (
    '. : ! [[ ]] { } alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs ' +
    'disown do done elif else enable esac eval exec export fc fg fi for function getopts history if in let local logout mapfile ' +
    'popd printf pushd read readarray readonly return select set shift shopt source suspend then time trap typeset unalias unset ' +
    'until wait while'
  ).split(' '),
)
/** Without expansions, escapes, braces, parentheses and history a word means what it says. */
const PLAIN = /^[\w\s.,:@%+\-/|&;<>*?~^[\]#'"=]+$/
const NAME = /^[A-Za-z_./][\w./+-]*$/
/** In UTF-16 units; a longer one is no plain command. */
const LONGEST = 4096
const INHERITED = /^(BASH_ENV|ENV|BASH_FUNC_)/

/**
 * Whether bash, begun in `state`, can't change its directory, exported variables or functions by this text: it is made of plain
 * commands, none of them a builtin that could. When in doubt it may; `false` costs a look at the state, no more.
 */
export function isQuietText(text: string, state: PreparedState, own: Readonly<Record<string, string>> = {}): boolean {
  if (text.length > LONGEST || !PLAIN.test(text) || state.restore !== '' || state.posix) return false
  if (inherits(state.env) || inherits(own)) return false
  const bare = text.replace(/['"]/g, '').replace(/[<>]&|&>/g, '>')
  return bare.split(/[|&;\n]/).every(isQuietCommand)
}

/** Quotes are gone: they can hide a word, and never part one from the next. */
function isQuietCommand(command: string): boolean {
  const words = command.split(/\s+/).filter(word => word !== '')
  const [name] = words
  if (name === undefined) return true
  if (!NAME.test(name) || CHANGING.has(name)) return false
  return words.every(word => !word.includes('=') || word.startsWith('-'))
}

function inherits(env: Readonly<Record<string, string>>): boolean {
  for (const name of Object.keys(env)) if (INHERITED.test(name)) return true
  return false
}
