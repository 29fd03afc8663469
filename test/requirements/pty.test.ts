import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isAlive, processesNaming, until } from '../support/processes.ts'
import { openTerminal } from '../support/terminal.ts'
import { verifies } from '../support/verifies.ts'

/** Draws a menu on the second screen, and tells which cursor key was pressed. */
const MENU = String.raw`stty raw -echo; printf '\033[?1049h\033[?1h\033[2J\033[2;3Hfirst\033[3;3Hsecond\033[1;1H'
key=$(head -c 3 | od -An -c | tr -d ' \n'); printf '\033[5;1Hkey %s' "$key"; head -c 1 > /dev/null
printf '\033[?1l\033[?1049l'; stty sane; echo left`

verifies('pty.terminal', async ({ client }) => {
  const command = '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three; stty size; echo "$TERM"; read -r line'
  const terminal = await openTerminal(client, command, { size: '90x20' })
  expect(await terminal.until(/xterm/)).toMatch(/^all three\n20 90\nxterm-256color\n\[job \w+: running; screen 90x20; cursor/)
})

verifies('pty.screen', async ({ client }) => {
  const drawing = String.raw`printf 'one\r\ntwo\r\nthree\033[2;2HWO\033[1;1H\033[K\033[3;1H'; read -r line`
  const terminal = await openTerminal(client, drawing)
  expect(await terminal.until(/three/)).toMatch(/^\ntWO\nthree\n\[job \w+: running; .*cursor at row 3, column 1\]/)
  expect(await client.text('BashOutput', { id: terminal.id, offset: 0 })).toContain('one')
})

verifies('pty.screen.alternate', async ({ client }) => {
  const terminal = await openTerminal(client, `echo before; ${MENU}`)
  expect(await terminal.until(/second/)).toMatch(/^\n {2}first\n {2}second\n\[job \w+: running; .*full-screen program/)
  await terminal.keys('up')
  await terminal.until(/key/)
  await terminal.keys('q')
  expect(await terminal.until(/exit code 0/)).toMatch(/^before\nleft\n/)
})

verifies('pty.keys.application', async ({ client }) => {
  const terminal = await openTerminal(client, MENU)
  await terminal.until(/second/)
  await terminal.keys('down')
  expect(await terminal.until(/key/)).toContain('key 033OB')
})

verifies('pty.screen.wide', async ({ client }) => {
  const terminal = await openTerminal(client, "printf '日本語 ｆ 😀|\\r\\033[5Cx'; read -r line")
  expect(await terminal.until(/ｆ/)).toMatch(/^日本 x ｆ 😀\|\n\[.*row 1, column 7\]/)
})

verifies('pty.answers', async ({ client }) => {
  const terminal = await openTerminal(client, 'read -r -p "Go on? [y/N] " answer; echo "answer: $answer"; exit 6')
  await terminal.until(/Go on\?/)
  await terminal.type('yes\n')
  expect(await terminal.until(/exit code/)).toMatch(/^Go on\? \[y\/N\] yes\nanswer: yes\n\[job \w+: exit code 6;/)
})

verifies('pty.password', async ({ client }) => {
  const terminal = await openTerminal(client, 'read -rsp "Password: " word; echo; printf "%s" "$word" | wc -c')
  await terminal.until(/Password:/)
  await terminal.type('not to be seen\n')
  expect(await terminal.until(/exit code/)).toMatch(/^Password:\n14\n/)
  expect(await client.text('BashOutput', { id: terminal.id, offset: 0 })).not.toContain('seen')
})

verifies('pty.keys', async ({ client }) => {
  const terminal = await openTerminal(client, 'trap "echo stopped" INT; cat; cat; echo over')
  await terminal.keys('ctrl-c')
  await terminal.until(/stopped/)
  expect(await terminal.type('word', 'enter')).toContain('word')
  await terminal.keys('ctrl-d')
  expect(await terminal.until(/over/)).toContain('exit code 0')
  const failure = await client.failure('BashInput', { id: terminal.id, keys: 'entr' })
  expect(failure).toContain('Did you mean enter?')
})

verifies('pty.end-of-input', async ({ client }) => {
  const terminal = await openTerminal(client, 'cat > /dev/null; echo over')
  await client.text('BashInput', { id: terminal.id, text: 'some\n', eof: true })
  expect(await terminal.until(/over/)).toContain('exit code 0')
})

verifies('pty.resize', async ({ client }) => {
  const terminal = await openTerminal(client, 'trap "stty size" WINCH; echo ready; while :; do sleep .1; done')
  await terminal.until(/ready/)
  await client.text('BashInput', { id: terminal.id, size: '61x17' })
  expect(await terminal.until(/17 61/)).toContain('screen 61x17')
  expect(await client.failure('BashInput', { id: terminal.id, size: '1x1' })).toContain('20x5')
})

verifies('pty.foreground', async ({ client, workdir }) => {
  const text = await client.text('Bash', {
    command: String.raw`printf '\033[32mgreen\033[0m\n'; cd /; export IN_TERMINAL=yes; [ -t 1 ] && exit 9`,
    input: 'pty',
    run_in_background: false,
  })
  expect(text).toMatch(/^green\n\[exit code 9/)
  expect(await client.text('Bash', { command: 'echo $PWD $IN_TERMINAL' })).toContain('/ yes')
  await client.text('Bash', { command: `cd '${workdir}'` })
})

verifies('pty.never-hangs', async ({ client }) => {
  const start = Date.now()
  await openTerminal(client, 'cat')
  await client.text('Bash', { command: 'echo beside' })
  expect(Date.now() - start).toBeLessThan(20_000)
})

verifies('pty.kill', async ({ client }) => {
  const terminal = await openTerminal(client, 'trap "" INT HUP TERM; sleep 991 & setsid sleep 992 & echo up; sleep 993')
  await terminal.until(/up/)
  await client.text('KillBash', { id: terminal.id })
  const left = await client.text('Bash', { command: "pgrep -f 'sleep 99[123]' || echo none-left" })
  expect(left).toContain('none-left')
  expect(await client.text('BashOutput', { id: terminal.id })).toMatch(/ended by SIG(TERM|KILL)/)
})

verifies('pty.kill.signal', async ({ client }) => {
  const terminal = await openTerminal(client, 'trap "echo asked; exit 4" INT; echo up; while :; do sleep .1; done')
  await terminal.until(/up/)
  await client.text('KillBash', { id: terminal.id, signal: 'SIGINT' })
  expect(await terminal.until(/exit code/)).toMatch(/asked\n\[job \w+: exit code 4/)
})

verifies('pty.timeout', async ({ client }) => {
  const terminal = await openTerminal(client, 'sleep 994; echo never', { timeout: 1_000 })
  expect(await terminal.until(/timed out/)).not.toContain('never')
  expect(await client.text('Bash', { command: "pgrep -f 'sleep 994' || echo none-left" })).toContain('none-left')
})

verifies('pty.ends-with-client', async ({ client, dir, alive }) => {
  const terminal = await openTerminal(client, 'echo $$ > terminal-pid; echo up; cat')
  await terminal.until(/up/)
  const pid = Number(readFileSync(join(dir, 'terminal-pid'), 'utf8'))
  expect(alive(pid)).toBe(true)
  await client.close()
  await until(() => !alive(pid), 'the program ends with its client', 10_000)
})

verifies('pty.host-killed', async ({ client, connect }) => {
  const terminal = await openTerminal(client, String.raw`printf '\033[2J\033[4;4Hkept here'; read -r word; echo "word: $word"`)
  await terminal.until(/kept here/)
  process.kill(client.pid, 'SIGKILL')
  await until(() => !isAlive(client.pid), 'the host is gone')
  const next = await connect()
  expect(await next.text('BashOutput', { id: terminal.id })).toMatch(/^\n\n\n {3}kept here\n\[job \w+: running/)
  await next.text('BashInput', { id: terminal.id, text: 'still\n' })
  const text = await next.text('BashOutput', { id: terminal.id, wait: 3_000 })
  expect(text).toContain('word: still')
})

verifies('pty.gateway-killed', async ({ world, client }) => {
  const script = String.raw`trap 'stty size' WINCH; printf '\033[3;3Hkept'; read -r word; echo "word: $word"; sleep 60`
  const terminal = await openTerminal(client, script)
  await terminal.until(/kept/)
  const [gateway] = processesNaming(world.root).filter(({ command }) => /gateway\.mjs.* serve/.test(command))
  if (gateway === undefined) throw new Error('The gateway was not found on this host')
  process.kill(gateway.pid, 'SIGKILL')
  await until(
    async () => (await client.call('Bash', { command: 'echo next' }).catch(() => undefined))?.isError !== true,
    'a killed gateway is replaced',
    30_000,
  )
  expect(await client.text('BashOutput', { id: terminal.id })).toMatch(/^\n\n {2}kept\n\[job \w+: running/)
  await client.text('BashInput', { id: terminal.id, size: '70x15' })
  await terminal.type('still\n')
  expect(await terminal.until(/word: still/)).toContain('screen 70x15')
  await client.text('KillBash', { id: terminal.id })
})

verifies('pty.questions', async ({ client }) => {
  const ask = String.raw`IFS= read -rsd R -p $'two\nlines\033[6n' where; printf '\n%q\n' "$where"`
  const terminal = await openTerminal(client, ask)
  expect(await terminal.until(/exit code/)).toMatch(/^two\nlines\n\$'\\E\[2;6'\n/)
})

verifies('pty.two-hosts', async ({ client, connect }) => {
  const terminal = await openTerminal(client, 'read -r a; echo "first $a"; read -r b; echo "second $b"; sleep 60')
  const other = await connect()
  await terminal.type('one\n')
  await other.text('BashInput', { id: terminal.id, text: 'two\n' })
  const seen = await terminal.until(/second two/)
  expect(seen).toMatch(/^one\nfirst one\ntwo\nsecond two\n/)
  const beside = await other.text('BashOutput', { id: terminal.id })
  expect(beside.split('\n[')[0]).toBe(seen.split('\n[')[0])
})
