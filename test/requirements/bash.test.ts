import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestClient, textOf } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { verifies } from '../support/verifies.ts'

/** The text of a command that may fail, since a time-out is shown as an error. */
const anyText = async (client: TestClient, args: Record<string, unknown>) => textOf(await client.call('Bash', args))

/** The last whole number on a line of its own. */
const pidIn = (text: string) => Number(/^(?:pid=)?(\d+)$/m.exec(text)?.[1])

verifies('bash.exit-code', async ({ client }) => {
  const result = await client.call('Bash', { command: 'echo out; exit 3' })
  expect(result.content).toMatchObject([{ type: 'text', text: expect.stringMatching(/out[\s\S]*exit[^\n]*\b3\b/i) }])
})

verifies('bash.duration', async ({ client }) => {
  expect(await client.text('Bash', { command: 'echo out' })).toMatch(/^out\n\[exit code 0, after \d+(\.\d)? m?s\]$/)
  expect(await client.text('Bash', { command: 'sleep 1.1' })).toMatch(/^\(no output\)\n\[exit code 0, after \d+(\.\d)? s\]$/)
  expect(await client.text('Bash', { command: 'kill -TERM $$' })).toMatch(/\[(ended by SIGTERM|exit code 143), after \d/)
})

verifies('bash.signal', async ({ client }) => {
  const result = await client.call('Bash', { command: 'kill -KILL $$' })
  expect(JSON.stringify(result.content)).toMatch(/SIGKILL|signal 9|137/)
})

verifies('bash.missing-command', async ({ client }) => {
  const result = await client.call('Bash', { command: 'no-such-program-here' })
  expect(JSON.stringify(result.content)).toMatch(/not found[\s\S]*127/)
})

verifies('bash.output.order', async ({ client }) => {
  expect(await client.text('Bash', { command: 'for i in 1 2 3; do echo out$i; echo err$i >&2; done' })).toContain(
    'out1\nerr1\nout2\nerr2\nout3\nerr3',
  )
})

verifies('bash.output.device', async ({ client }) => {
  const text = await client.text('Bash', {
    command: 'echo one; echo two > /dev/stderr; echo three | tee /dev/stderr > /dev/null; echo four > /dev/stdout',
  })
  expect(text).toContain('one\ntwo\nthree\nfour')
})

verifies('bash.output.ansi', async ({ client }) => {
  const text = await client.text('Bash', { command: "printf '\\033[31mred\\033[0m plain\\n'" })
  expect(text).toContain('red plain')
  expect(text).not.toContain('\u001b')
})

verifies('bash.output.carriage-return', async ({ client }) => {
  const text = await client.text('Bash', { command: 'for i in $(seq 1 2000); do printf "progress %s\\r" $i; done; echo' })
  expect(text).toContain('progress 2000')
  expect(text).not.toContain('progress 1999')
})

verifies('bash.output.split-character', async ({ client }) => {
  expect(await client.text('Bash', { command: "printf '\\xe2'; sleep .2; printf '\\x89\\xa4'" })).toContain('≤')
})

verifies('bash.output.truncation', async ({ client }) => {
  const text = await client.text('Bash', {
    command: 'echo FIRST; for i in $(seq 1 60); do printf "😀%.0s" $(seq 1 999); printf "x\\n"; done; echo LAST',
  })
  expect(text).toMatch(/FIRST[\s\S]*LAST/)
  expect(text.length).toBeLessThan(40_000)
  expect(text).not.toContain('\ufffd')
})

verifies('bash.output.log', async ({ client }) => {
  const text = await client.text('Bash', { command: 'seq 1 50000' })
  const path = /(\/[^\s'"`]*\/jobs\/[^\s'"`]*?)[.,;:)\]]?(?=\s|$)/m.exec(text)?.[1]
  expect(path, text.slice(-600)).toBeDefined()
  expect(await client.text('Read', { file_path: path, offset: 25_000, limit: 1 })).toContain('25000')
})

verifies('bash.output.bounded', async ({ client }) => {
  const text = await anyText(client, { command: 'echo BEGIN; yes', timeout: 2_000 })
  expect(text).toContain('BEGIN')
  expect(text.length).toBeLessThan(60_000)
  expect(text).toMatch(/time|timed out/i)
})

verifies('bash.stdin.empty', async ({ client }) => {
  const text = await client.text('Bash', { command: 'cat; read -r line || echo "no input"', timeout: 20_000 })
  expect(text).toContain('no input')
})

verifies('bash.stdin.no-rshd', async ({ client, world }) => {
  writeFileSync(join(world.env.HOME ?? '', '.bashrc'), 'echo from-bashrc\n')
  const text = await client.text('Bash', { command: 'echo plain' })
  expect(text).toContain('plain')
  expect(text).not.toContain('from-bashrc')
})

verifies('bash.heredoc', async ({ client }) => {
  expect(await client.text('Bash', { command: 'cat <<\'END\'\n$HOME `date` "q"\nEND' })).toContain('$HOME `date` "q"')
})

verifies('bash.heredoc.unterminated', async ({ client }) => {
  const started = Date.now()
  const result = await client.call('Bash', { command: 'if true; then echo "never closed' })
  expect(JSON.stringify(result.content)).toMatch(/unexpected|syntax/i)
  expect(Date.now() - started).toBeLessThan(20_000)
})

verifies('bash.text.verbatim', async ({ client }) => {
  const odd = `'"\\\`$()&|;<>*?[]{}~#! é 日本`
  const quoted = `'${odd.replaceAll("'", "'\\''")}'`
  expect(await client.text('Bash', { command: `printf '%s\\n' ${quoted}` })).toContain(odd)
})

verifies('bash.text.prompt-like', async ({ client }) => {
  expect(await client.text('Bash', { command: "printf '$ '; sleep .3; printf '> '; sleep .3; echo end" })).toContain('$ > end')
})

verifies('bash.text.long', async ({ client }) => {
  const text = await client.text('Bash', { command: `: ${'x'.repeat(300_000)}\necho still-here` })
  expect(text).toContain('still-here')
})

verifies('bash.text.nul', async ({ client }) => {
  expect(await client.failure('Bash', { command: 'echo a\u0000b' })).toMatch(/NUL|null|\\u?0/i)
})

verifies('bash.env.quiet', async ({ client }) => {
  const text = await client.text('Bash', { command: 'echo "$GIT_TERMINAL_PROMPT/$PAGER"' })
  expect(text).toContain('0/cat')
})

verifies('bash.state.carries', async ({ client, workdir }) => {
  await client.text('Bash', { command: 'mkdir -p sub && cd sub && export COLOUR="deep blue"; exit 3' })
  expect(await client.text('Bash', { command: 'echo "$PWD|$COLOUR"' })).toContain(`${workdir}/sub|deep blue`)
})

verifies('bash.state.after-errors', async ({ client }) => {
  await client.call('Bash', { command: 'export A=1; set -e; false; export A=2' })
  await client.call('Bash', { command: "export B=1; trap 'echo bye' EXIT; exit 1" })
  await client.call('Bash', { command: 'if then fi (' })
  expect(await client.text('Bash', { command: 'echo "A=$A B=$B"' })).toContain('A=1 B=1')
})

verifies('bash.state.exec', async ({ client, workdir }) => {
  await client.text('Bash', { command: 'cd /; exec true' })
  expect(await client.text('Bash', { command: 'pwd' })).toContain(workdir)
})

verifies('bash.state.directory-gone', async ({ client, connect, transport }) => {
  const other = await connect(transport === 'http' && client.http ? { server: client.http } : {})
  await client.text('Bash', { command: 'mkdir gone && cd gone' })
  await other.text('Bash', { command: 'rmdir gone' })
  const result = await client.call('Bash', { command: 'echo ran > ran.txt; echo did-run' })
  expect(JSON.stringify(result.content)).toMatch(/not run|no longer exist|gone/i)
  expect(JSON.stringify(result.content)).not.toContain('did-run')
  expect(await client.text('Bash', { command: 'ls; echo works' })).toContain('works')
})

verifies('bash.state.private', async ({ client, connect, transport }) => {
  await client.text('Bash', { command: 'export SECRET_OF_ONE=1; cd /' })
  const other = await connect(transport === 'http' && client.http ? { server: client.http } : {})
  const text = await other.text('Bash', { command: 'echo "[$SECRET_OF_ONE] $PWD"' })
  expect(text).toContain('[] ')
  expect(text).not.toMatch(/\] \/$/m)
})

verifies('bash.parallel', async ({ client }) => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => client.text('Bash', { command: `sleep .1; echo answer-${i}` })),
  )
  answers.forEach((text, i) => {
    expect(text.match(/answer-\d+/g)).toEqual([`answer-${i}`])
  })
})

verifies('bash.parallel.state', async ({ client }) => {
  await Promise.all([
    client.text('Bash', { command: 'sleep .2; export ONE=1' }),
    client.text('Bash', { command: 'sleep .2; export TWO=2' }),
  ])
  expect(await client.text('Bash', { command: 'echo "$ONE$TWO"' })).toContain('12')
})

verifies('bash.timeout.kills-tree', async ({ client, dir }) => {
  const started = Date.now()
  const text = await anyText(client, {
    command: `echo pid=$$; sleep 971 & (sleep 972 & echo $! > ${dir}/inner; wait) & yes | cat > /dev/null`,
    timeout: 1_000,
  })
  expect(Date.now() - started).toBeLessThan(15_000)
  expect(text).toMatch(/timed out|time-?out/i)
  const left = await client.text('Bash', { command: "pgrep -f 'sleep 97[12]' || echo none-left" })
  expect(left).toContain('none-left')
})

verifies('bash.timeout.setsid', async ({ client, dir, alive }) => {
  await anyText(client, { command: `setsid sh -c 'echo $$ > ${dir}/pid; exec sleep 973' & sleep 60`, timeout: 1_500 })
  const pid = Number((await client.text('Bash', { command: 'cat pid' })).match(/\d+/)?.[0])
  expect(pid).toBeGreaterThan(1)
  await until(() => !alive(pid), 'the process in a session of its own is ended', 10_000)
})

verifies('bash.timeout.output', async ({ client }) => {
  const text = await anyText(client, { command: 'echo before; (sleep 974 &) ; sleep 60; echo after', timeout: 1_000 })
  expect(text).toContain('before')
  expect(text).not.toMatch(/^after$/m)
})

verifies('bash.timeout.validated', async ({ client }) => {
  expect(await anyText(client, { command: 'true', timeout: 900_000_000 })).toMatch(/limit[^\n]*(10 min|600)/)
  expect(await client.failure('Bash', { command: 'true', timeout: -5 })).toContain('timeout')
})

verifies('bash.child.returns', async ({ client }) => {
  const started = Date.now()
  const text = await client.text('Bash', { command: 'sleep 60 & echo done' })
  expect(text).toContain('done')
  expect(Date.now() - started).toBeLessThan(10_000)
  expect(await client.text('Bash', { command: "pgrep -f 'sleep 60'" })).toMatch(/\d+/)
})

verifies('bash.child.silent', async ({ client }) => {
  const started = Date.now()
  expect(await client.text('Bash', { command: '(sleep 300 >/dev/null 2>&1 &); echo done' })).toContain('done')
  expect(Date.now() - started).toBeLessThan(10_000)
})

verifies('bash.child.listed', async ({ client }) => {
  const text = await client.text('Bash', { command: 'sleep 60 & echo done' })
  const id = /\bjob ([0-9a-f]{6,})/i.exec(text)?.[1]
  expect(id, text).toBeDefined()
  await client.text('KillBash', { id })
  await until(
    async () => (await client.text('Bash', { command: "pgrep -f 'sleep 60' || echo none-left" })).includes('none-left'),
    'the child is ended',
  )
})

verifies('bash.kill-zero', async ({ client }) => {
  await client.call('Bash', { command: 'kill 0; sleep 5' })
  expect(await client.text('Bash', { command: 'echo alive' })).toContain('alive')
})

verifies('bash.cancel', async ({ client, dir, alive }) => {
  const abort = new AbortController()
  const call = client.call('Bash', { command: `echo $$ > ${dir}/pid; sleep 600` }, { signal: abort.signal }).catch(error => error)
  const path = join(dir, 'pid')
  const pid = () => Number(existsSync(path) ? readFileSync(path, 'utf8') : 0)
  await until(() => pid() > 0, 'the command has started')
  abort.abort()
  await until(() => !alive(pid()), 'the command is ended', 5_000)
  expect(await call).toBeInstanceOf(Error)
})

verifies('bash.progress', async ({ client }) => {
  const seen: string[] = []
  await client.text(
    'Bash',
    { command: 'for i in 1 2 3; do echo tick-$i; sleep .4; done' },
    { onProgress: message => seen.push(message) },
  )
  expect(seen.join('')).toContain('tick-1')
})

verifies('bash.arguments.unknown', async ({ client }) => {
  expect(await client.failure('Bash', { command: 'true', tiemout: 5 })).toContain('tiemout')
})

verifies('bash.arguments.missing', async ({ client }) => {
  expect(await client.failure('Bash', {})).toContain('command')
})

verifies('bash.pid', async ({ client }) => {
  const text = await client.text('Bash', { command: 'echo pid=$$; pkill -f no-such-pattern-of-mine; echo survived' })
  expect(pidIn(text)).toBeGreaterThan(1)
  expect(text).toContain('survived')
})
