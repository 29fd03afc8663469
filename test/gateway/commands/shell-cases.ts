/** What each command text must leave behind for the next one: working directory and variable A. Data for `shell-state.test.ts`. */
export interface ShellCase {
  name: string
  text: string
  /** Relative to the case's directory; null: any. Bytes. */
  cwd: string | null
  /** Bytes; null: unset. */
  A: string | null
  /** Other variables that the next command must (or, undefined, must not) see. */
  env?: Record<string, string | undefined>
  /** A next command and its output. */
  next?: [text: string, output: string]
  /** Commands run before. */
  pre?: string[]
  timeout?: number
  bashonly?: boolean
  /** False: status may differ from a plain shell's. */
  same?: boolean
  throws?: boolean
  /** The rule by which the state is not the one at the end. */
  rule?: string
  norm?: boolean
  nols?: boolean
  notes?: RegExp
}

export const base = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  USER: 'root',
  SHLVL: '0',
  A: 'base',
  'A.B': '1',
}
const long = (n: number, tail: string) => `: ${'#'.repeat(n)}\n${tail}`
const c = (
  name: string,
  text: string,
  cwd: string | null = '.',
  A: string | null = 'base',
  x: Partial<ShellCase> = {},
): ShellCase => ({ name, text, cwd, A, ...x })
export const CASES: ShellCase[] = [
  c('cd', 'cd x', 'x'),
  c('cd;exit 3', 'cd x; exit 3', 'x'),
  c('cd && false', 'cd x && false', 'x'),
  c('set -e', 'set -e; cd x; false; cd ..', 'x'),
  c('set -u', 'cd x; set -u; echo $nope; cd ..', 'x'),
  c('set -euo pipefail', 'set -euo pipefail; cd x; false | true; cd ..', 'x', 'base', { bashonly: true }),
  c('exec ls', 'cd x; exec ls', '.', 'base', { rule: 'exec: state before' }),
  c('exec sh', "exec sh -c 'cd /'", '.'),
  c('exec nosuch', 'cd x; exec nosuch', 'x'),
  c('own EXIT trap', "trap 'echo bye' EXIT; cd x", 'x'),
  c('own EXIT trap + exit', "trap 'echo bye $?' EXIT; cd x; exit 3", 'x', 'base', { norm: true }),
  c('own EXIT trap + set -e', "set -e; trap 'echo bye' EXIT; cd x; false", 'x'),
  c('trap "" EXIT', "trap '' EXIT; cd x", 'x'),
  c('trap "" EXIT; exit', "trap '' EXIT; cd x; exit 3", 'x'),
  c('trap - EXIT', 'trap - EXIT; cd x', 'x'),
  c('trap - EXIT; exit', 'trap - EXIT; cd x; exit 3', 'x'),
  c('EXIT trap that exits', "trap 'exit 7' EXIT; cd x", 'x'),
  c('EXIT trap set in subshell', "(trap 'echo sub' EXIT; cd y); cd x", 'x'),
  c('EXIT trap in a sourced file', `echo "trap 'echo bye' EXIT" >f; . ./f; cd x`, 'x'),
  c('sourced file: trap + exit', `echo "trap 'echo bye' EXIT; cd x; exit 4" >f; . ./f`, 'x'),
  c('ERR trap', "trap 'echo ERR' ERR; cd x; false", 'x', 'base', { bashonly: true }),
  c('DEBUG trap', "trap 'echo D' DEBUG; cd x; :", 'x', 'base', { bashonly: true, rule: 'DEBUG trap sees up to 2 more' }),
  c('DEBUG + set -T', "set -T; trap 'echo D' DEBUG; cd x", 'x', 'base', { bashonly: true, rule: 'DEBUG trap sees up to 2 more' }),
  c('RETURN trap', "f() { trap 'echo R' RETURN; :; }; f; cd x", 'x', 'base', { bashonly: true }),
  c('return 3', 'cd x; return 3', 'x'),
  c('syntax error', 'if true; then', '.'),
  c('cd, then syntax error', 'cd x\nif true; then', 'x'),
  c('open quote', 'echo "abc'),
  c('open heredoc', "cat <<'EOF'\nabc"),
  c('heredoc', "cat <<'EOF'\na $b `c`\nEOF\ncd x", 'x'),
  c('ends in backslash', 'cd x; echo a \\', 'x'),
  c('ends in comment', 'cd x # no', 'x'),
  c('ends in &', 'cd x; true &', 'x'),
  c('starts with -', '-n foo'),
  c('starts with !', '! cd x', 'x'),
  c('kill -9 $$', 'cd x; kill -9 $$', '.', 'base', { rule: 'SIGKILL: state before' }),
  c('kill $$', 'cd x; kill $$; sleep 1', 'x'),
  c('kill -HUP $$', 'cd x; kill -HUP $$; sleep 1', 'x'),
  c('timeout, TERM', 'cd x; export A=1; sleep 5', 'x', '1', { timeout: 150 }),
  c('timeout, user TERM trap', "trap 'echo got; exit 9' TERM; cd x; sleep 5", 'x', 'base', { timeout: 150 }),
  c('timeout, TERM ignored', "trap '' TERM; cd x; sleep 5; sleep 5", '.', 'base', {
    timeout: 100,
    rule: 'SIGKILL: state before',
  }),
  c('subshell cd', '(cd y; export A=2)'),
  c('cd &', 'cd x & wait'),
  c('background left', 'cd x; sleep 0.3 >/dev/null 2>&1 & cd ../y', 'y'),
  c('subshell killed', '(cd y; kill -9 $(exec sh -c "echo \\$PPID")); cd x', 'x', 'base', { norm: true }),
  c('alias', "shopt -s expand_aliases 2>/dev/null\nalias gg='cd x'\ngg", 'x'),
  c('extglob', 'shopt -s extglob\ncd @(x)', 'x', 'base', { bashonly: true }),
  c('noclobber', 'set -o noclobber; cd x', 'x'),
  c('set -f', 'set -f; cd x; echo *', 'x'),
  c('set -n', 'cd x\nset -n\ncd ..', '.', 'base', { rule: 'set -n: nothing runs after it' }),
  c('set -x', 'set -x; cd x', 'x'),
  c('set -v', 'set -v\ncd x', 'x', 'base', { rule: 'set -v: one line more' }),
  c('set -a', 'set -a; A=5; cd x', 'x', '5'),
  c('set -o posix', 'set -o posix; cd x; A=6', 'x', '6', { bashonly: true }),
  c('IFS', 'IFS=/; cd x; export A=7', 'x', '7'),
  c('POSIXLY_CORRECT', 'export POSIXLY_CORRECT=1; cd x', 'x', 'base', {
    env: { POSIXLY_CORRECT: '1' },
    next: ['cd ..; echo $A', 'base\n'],
  }),
  c('POSIXLY_CORRECT + own trap', "trap 'echo bye' EXIT; cd x", 'x', 'base', { same: false, pre: ['export POSIXLY_CORRECT=1'] }),
  c('readonly A', 'readonly A; cd x', 'x', 'base', { next: ['A=new; echo $A', 'new\n'] }),
  c('readonly PATH', 'readonly PATH; cd x', 'x'),
  c('export PATH=', 'export PATH=; cd x', 'x', 'base', { env: { PATH: '' }, nols: true }),
  c('unset PATH', 'unset PATH; cd x', 'x', 'base', { env: { PATH: undefined } }),
  c('unset HOME', 'unset HOME; cd x', 'x', 'base', { env: { HOME: undefined } }),
  c('newline in value', "export A='x\ny'", '.', 'x\ny'),
  c('hard value', `export A='"$x\`y\`\\\\ '"'"'!'`, '.', `"$x\`y\`\\\\ '!`),
  c('non-UTF-8 value', `export A=$(printf 'z\\377\\001z')`, '.', 'z\xff\x01z', {
    next: [`printf %s "$A" | od -An -c`, '   z 377 001   z\n'],
  }),
  c('UTF-8 value', 'export A=é', '.', Buffer.from('é').toString('latin1')),
  c('trailing newlines', "export A='a\n\n'", '.', 'a\n\n'),
  c('empty value', 'export A=', '.', ''),
  c('unset', 'unset A', '.', null),
  c('export without value', 'unset A; export A', '.', null),
  c('not exported', 'B=5; cd x', 'x', 'base', { env: { B: undefined } }),
  c('local export', 'f() { local B; B=1; export B; exit 2; }; f', '.', 'base'),
  c('exported function', 'f() { cat <<E\ndeclare -fx g\nE\n}; export -f f; cd x', 'x', 'base', {
    bashonly: true,
    next: ['f; bash -c f', 'declare -fx g\ndeclare -fx g\n'],
  }),
  c('exported function removed', 'export -fn f; unset -f f', '.', 'base', {
    bashonly: true,
    same: false,
    pre: ['f() { echo 1; }; export -f f'],
    next: ['type f >/dev/null 2>&1 || echo none', 'none\n'],
  }),
  c('exported array', 'declare -ax A=(1 2); cd x', 'x', null, { bashonly: true }),
  c('integer attribute', 'declare -ix A=5', '.', '5', { bashonly: true }),
  c('odd name kept', 'env | grep ^A.B', '.', 'base', { bashonly: true, next: ['env | grep ^A.B', 'A.B=1\n'] }),
  c(
    '3 MB environment',
    "A=$(head -c 100000 /dev/zero | tr '\\0' a); i=0; while [ $i -lt 30 ]; do export BIG$i=$A; i=$((i+1)); done; A=base; cd x; ls",
    'x',
    'base',
    { next: ['ls / >/dev/null && echo ok', 'ok\n'] },
  ),
  c('one value of 3 MB', "export BIG=$(head -c 3000000 /dev/zero | tr '\\0' a); cd x", 'x', 'base', {
    env: { BIG: undefined },
    next: ['ls / >/dev/null && echo ok', 'ok\n'],
  }),
  c('cwd deleted', 'cd x; rmdir ../x', null, 'base', { notes: /cwd gone/ }),
  c('cwd renamed', 'cd x; mv ../x ../z', 'z'),
  c('cwd renamed, name taken', 'cd x; mv ../x ../z; mkdir ../x', 'z'),
  c('cwd newline', "mkdir 'a\nb'; cd 'a\nb'", 'a\nb'),
  c('cwd trailing newline', "mkdir 'a\n'; cd 'a\n'", 'a\n'),
  c('cwd space', "mkdir ' a b '; cd ' a b '", ' a b '),
  c('cwd non-UTF-8', `d=$(printf 'q\\377'); mkdir "$d"; cd "$d"`, 'q\xff', 'base', {
    next: ['pwd | od -An -tx1 | grep -c ff', '1\n'],
  }),
  c('cwd starting with -', 'mkdir ./-p; cd ./-p', '-p'),
  c('symlinked cwd', 'ln -s x l; cd l', 'l', 'base', { next: ['pwd | grep -c "/l$"; pwd -P | grep -c "/x$"', '1\n1\n'] }),
  c('cd -P', 'ln -s x l; cd -P l', 'x'),
  c('cd -', 'cd -', 'x', 'base', { pre: ['cd x', 'cd ../y'], same: false }),
  c('OLDPWD', 'cd x', 'x', 'base', { next: ['cd - >/dev/null; [ -d y ] && echo up', 'up\n'] }),
  c('PWD tampered', 'cd x; PWD=/nowhere', 'x', 'base'),
  c('unset PWD', 'cd x; unset PWD', 'x'),
  c('umask 777', 'cd x; umask 777', 'x'),
  c('$? at start', 'echo $?', '.', 'base', { pre: ['exit 4'] }),
  c('$0 $LINENO', 'echo "$0 $LINENO $#"\necho $LINENO', '.', 'base', { bashonly: true }),
  c('$BASH_COMMAND', 'echo $BASH_COMMAND $BASH_SUBSHELL ${#FUNCNAME[@]} ${#BASH_SOURCE[@]} $BASH_EXECUTION_STRING', '.', 'base', {
    bashonly: true,
  }),
  c('not found', 'foo_nope'),
  c('not found, line 3', ':\n\nfoo_nope; :'),
  c('SHLVL stays', 'echo $SHLVL', '.', 'base', { pre: ['true', 'true'] }),
  c('env is clean', 'env | sort | grep -av "^_=" | grep -av ^MARK', '.', 'base', { bashonly: true }),
  ...['export', 'cd', 'pwd', 'trap', 'builtin', 'eval', 'set', 'unset', 'printf', 'exit', 'command'].map(b =>
    c(`function ${b}`, `cd x; export A=8; ${b}() { echo fake; }`, 'x', '8', { bashonly: true, same: true }),
  ),
  c(
    'alias of builtins',
    'shopt -s expand_aliases; alias export=false pwd=false trap=false eval=false builtin=false printf=false; cd x',
    'x',
    'base',
    { bashonly: true },
  ),
  c('exported function eval', 'eval() { :; }; trap() { :; }; builtin() { :; }; export -f eval trap builtin; cd x', 'x', 'base', {
    bashonly: true,
    next: ['echo alive', 'alive\n'],
  }),
  c('exec >file', 'exec >f 2>&1; cd x; echo inside', 'x', 'base', { next: ['cat ../f', 'inside\n'] }),
  c('exec 3>&-', 'exec 3>&-; cd x', 'x'),
  c('exec 3>file', 'exec 3>f; cd x; export A=9', 'x', '9', { next: ['cat ../f; echo .', '.\n'] }),
  c('exec >&- 2>&-', 'exec >&- 2>&- <&-; cd x', 'x'),
  c('fds of ours', 'ls /proc/self/fd | tr "\\n" " "', '.'),
  c('ulimit -f 0', 'ulimit -f 0; cd x', null, 'base', { rule: 'state before' }),
  c('ulimit -n 5', 'ulimit -n 5; cd x', null, 'base', { rule: 'state before or after' }),
  c('pkill -f own text', 'cd x; pkill -f uniq_text_77; echo alive', 'x', 'base', { same: false }),
  c('200 KB text', long(200_000, 'cd x; echo done'), 'x'),
  c('5 MB text', long(5_000_000, 'cd x; echo done'), 'x'),
  c('100 KB argument text', `cd x; echo ${'a'.repeat(100_000)} | wc -c`, 'x'),
  c('NUL in text', 'cd x\0', '.', 'base', { throws: true }),
  c('set -r', 'cd x; set -r', null, 'base', { bashonly: true, rule: 'set -r: state before' }),
  c('SHELLOPTS exported', 'export SHELLOPTS; set -x; cd x', 'x', 'base', { bashonly: true, next: ['echo q', 'q\n'] }),
  c('BASH_ENV exported', 'echo "echo SOURCED" >be; export BASH_ENV=$PWD/be; cd x', 'x', 'base', {
    bashonly: true,
    next: ['echo q; bash -c "echo w"', 'q\nSOURCED\nw\n'],
  }),
  c('SSH_CLIENT, .bashrc', 'echo "echo RC" >.bashrc; export HOME=$PWD SSH_CLIENT=1; cd x', 'x', 'base', {
    bashonly: true,
    same: false,
    env: { SSH_CLIENT: '1' },
    next: ['echo q', 'q\n'],
  }),
  c('rm -rf dump dir', 'cd x; rm -rf "$DUMPDIR"', null, 'base', { same: false, rule: 'state before' }),
]
