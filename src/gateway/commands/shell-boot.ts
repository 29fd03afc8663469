import { dirname } from 'node:path'
import { quote } from './quote.ts'

/** What a shell's boot code has to know beside the command's text. */
export interface BootOptions {
  run: string
  /** File that takes the shell's state at its end; absent: none is taken. */
  dump?: string
  /** File that gets the exit status at the shell's end, where its directory exists. */
  exitRecord: string
  text: string
  /** File with the text, where it is too long for the environment. */
  textFile?: string | undefined
  /** Whether `$_R` (bash) or `restoreFile` (sh) is to be run before the text. */
  restore: boolean
  restoreFile?: string | undefined
  posix: boolean
  /** The text can change nothing that carries over: the exit status is all that is left. */
  quiet?: boolean
}

/** The whole of a shell's own command line. */
export const BOOT = 'eval "$_B"'

/** That of a shell that waits for its code on descriptor 3: two lengths, the boot code and the text. */
export const READY_BOOT = [
  'IFS=, builtin read -ru3 _B _X && IFS= builtin read -rN "$_B" -u3 _B && IFS= builtin read -rN "$_X" -u3 _X || builtin exit 0',
  'SECONDS=0',
  'exec 3<&-',
  BOOT,
].join('; ')

/** What it waits for: `code`, then `text`. It counts characters, which in ASCII are bytes in every locale. */
export const readyMessage = (code: string, text: string): string => `${code.length},${text.length}\n${code}${text}`

/** Arguments of a bash that runs `boot` and reads no files of the user. */
export const bashArgs = (boot: string): string[] => ['--norc', '-c', boot, 'bash']

function quietBoot(o: BootOptions): string {
  const record = quote(`__s=$?; ${recordExit(o, '$__s')}`)
  return `unset -v _B; BASH_EXECUTION_STRING=$_X; unset -v _X; trap ${record} EXIT; eval " $BASH_EXECUTION_STRING"`
}

// the exit trap runs at a signal too, where the status is that of the command before; an end of the text's own sets BASH_COMMAND back, from 5.2 on
const HAS_ENDED = `( $BASH_COMMAND == ${quote(BOOT)} || \${BASH_VERSINFO[0]}\${BASH_VERSINFO[1]} < 52 )`

/** A job's folder is there; for any other command the open would fail, and its message be looked up in six files. */
function recordExit(o: BootOptions, status: string): string {
  const isJob = `-d ${quote(dirname(o.exitRecord))}`
  return `if [[ ${isJob} && ${HAS_ENDED} ]]; then builtin printf '%s\\n' ${status} >|${quote(o.exitRecord)}; fi`
}

/** Boot code of bash, on one line so that line numbers in messages stay right: sets the exit trap, then runs the text. */
export function bashBoot(o: BootOptions): string {
  if (o.quiet) return quietBoot(o)
  const text = o.textFile === undefined ? '$_X' : `$(<${quote(o.textFile)})`
  const trap = (body: string) => quote(`{ { ${body}; } 1<>${quote(o.dump ?? o.exitRecord)}; } 2>&-`)
  const mine = `builtin trap ${trap('__d 0 $?')} EXIT`
  const words = trapWords(o)
  const guard = words.wrap ? `${inspectTrap(o, mine)} ${trapWrapper}` : words.check ? inspectTrap(o, mine) : ''
  const after = words.check ? '; { builtin eval "builtin trap - ERR DEBUG; __c $?"; } 2>&-' : ''
  return [
    'unset -v _B;',
    `BASH_EXECUTION_STRING=${text}; unset -v _X;`,
    bashDump(o),
    `${mine};`,
    o.restore ? 'eval "$_R";' : '',
    guard,
    `eval " $BASH_EXECUTION_STRING"${after}`,
  ].join(' ')
}

const trapWrapper = 'trap() { builtin trap "$@" || return; [[ $BASH_SUBSHELL != 0 ]] || { __c 0; } 2>&-; };'

/** Whether the text may displace our exit trap: then `trap` is wrapped, or looked at once after the text. */
function trapWords(o: BootOptions): { wrap: boolean; check: boolean } {
  const traps = /\btrap\b/.test(o.text)
  const fragile = /\b(RETURN|DEBUG|ERR)\b/.test(o.text) || o.posix
  const sources = /(^|[\s;&|({])(\.|source)\s/.test(o.text)
  return { wrap: traps && !fragile, check: (traps && fragile) || (!traps && sources) }
}

// posix mode is entered by assignment, which nothing can shadow: special builtins then outrank the user's functions, and pwd checks itself
function bashDump(o: BootOptions): string {
  const head = "__d() { POSIXLY_CORRECT=${POSIXLY_CORRECT-@}; set +euvx; trap - DEBUG ERR RETURN; trap '' XFSZ;"
  const clear = 'unset -f builtin eval trap unset set export printf pwd;'
  if (o.dump === undefined) return `${head} ${clear} if [[ ${HAS_ENDED} ]]; then builtin printf '%s\\n' "$2"; fi; return "$1"; };`
  return [
    head,
    clear,
    `builtin printf '\\1%s\\0' ${o.run}; builtin pwd; builtin printf '\\0'; export -p; builtin printf '\\0';`,
    `set +o posix; builtin export -fp; builtin printf '\\0%s\\0%s\\2' "$2" ${o.run};`,
    `${recordExit(o, '"$2"')};`,
    'return "$1"; };',
  ].join(' ')
}

/** `__c` looks at the exit trap that is set now; `__k` makes it ours again, or puts the dump in front of the user's own. */
function inspectTrap(o: BootOptions, mine: string): string {
  const file = quote(o.dump ?? o.exitRecord)
  const first = quote(`case $( { __d $? $? >|${file}; } 2>&- ) in *)`)
  return [
    `__k() { case \${3-} in *__d*) ;; '') ${mine};; *) builtin trap -- ${first}$'\\n'"$3"$'\\n'';; esac' EXIT;; esac; };`,
    `__c() { { builtin trap -p EXIT; builtin printf '\\0'; } 1<>${file};`,
    `builtin local l=; IFS= builtin read -r -d '' l <${file} || :;`,
    `case $l in ''|'trap -- '*) builtin eval "__k $l";; esac; return $1; };`,
  ].join(' ')
}

/** Boot code of a plain POSIX shell (dash, busybox). */
export function shBoot(o: BootOptions): string {
  const file = quote(o.dump ?? o.exitRecord)
  const traps = /\btrap\b|(^|[\s;&|({])(\.|source)\s/.test(o.text)
  const atTerm = `{ { __d 143; } 1<>${file}; } 2>&-; trap - EXIT TERM; kill -TERM $$`
  const check = `__c() { { trap; echo; } 1<>${file}; read -r __l <${file} || :; case $__l in *__d*EXIT) ;; *) ( __d "$1" ) 1<>${file};; esac; return "$1"; };`
  return [
    'unset _B; __x=$_X; unset _X; [ -z "${OLDPWD-}" ] || export OLDPWD;',
    shDump(o),
    `trap ${quote(`{ { __d $?; } 1<>${file}; } 2>&-`)} EXIT;`,
    `trap ${quote(atTerm)} TERM;`,
    o.restore && o.restoreFile !== undefined ? `. ${quote(o.restoreFile)};` : '',
    traps ? check : '',
    o.textFile === undefined ? 'eval " $__x"' : `. ${quote(o.textFile)}`,
    traps ? '; { __c $?; } 2>&-' : '',
  ].join(' ')
}

function shDump(o: BootOptions): string {
  const head = `__d() { set +euvx; trap '' XFSZ 2>&-; unset -f pwd printf command;`
  if (o.dump === undefined) return `${head} printf '%s\\n' "$1"; };`
  const state = `printf '\\1%s\\0' ${o.run}; pwd; printf '\\0'; pwd -P; printf '\\0'; export -p;`
  return `${head} ${state} printf '\\0\\0%s\\0%s\\2' "$1" ${o.run}; { printf '%s\\n' "$1" >|${quote(o.exitRecord)}; }; };`
}
