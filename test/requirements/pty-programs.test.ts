import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BACKENDS } from '../support/backends.ts'
import type { TestClient } from '../support/client.ts'
import { createStage, type Stage } from '../support/stage.ts'
import { openTerminal } from '../support/terminal.ts'
import { isWanted } from '../support/verifies.ts'

const PLACES = [
  { backend: 'local', transport: 'stdio' },
  { backend: 'local', transport: 'http' },
  { backend: 'docker', transport: 'http' },
] as const

describe.each(PLACES)('programs that want a terminal, on $backend over $transport', ({ backend, transport }) => {
  const missing = isWanted(backend, 'pty') ? BACKENDS[backend]?.unavailable() : 'not asked for by ATELIER_TEST_BACKENDS'
  let stage: Stage | undefined
  let client: TestClient
  let dir: string
  beforeAll(async () => {
    if (missing !== undefined) return
    stage = createStage(backend, transport)
    dir = stage.world.project
    client = await stage.connect()
  }, 120_000)
  afterAll(async () => {
    await stage?.end().finally(stage.dispose)
  }, 120_000)

  /** A test of a program, which is skipped where that is not installed. */
  function drives(program: string, name: string, body: () => Promise<void>): void {
    it(`${program}: ${name}`, async context => {
      if (missing !== undefined) return context.skip(missing)
      const found = await client.text('Bash', { command: `command -v ${program}` })
      if (!found.includes('exit code 0')) return context.skip(`${program} is not installed there`)
      await body()
    }, 90_000)
  }

  for (const editor of ['vim', 'vim.tiny']) {
    drives(editor, 'edits a file and leaves', async () => {
      writeFileSync(join(dir, 'poem.txt'), 'first\nsecond\nthird\n')
      const terminal = await openTerminal(client, `${editor} -u NONE -N poem.txt`, { size: '60x12' })
      expect(await terminal.until(/"poem.txt"/)).toMatch(
        /^first\nsecond\nthird\n~\n[\s\S]*full-screen program; cursor at row 1, column 1/,
      )
      await terminal.keys('down end a')
      await terminal.type(' añadido 日本\nfourth', 'esc')
      expect(await terminal.until(/row 3/)).toMatch(/^first\nsecond añadido 日本\nfourth\nthird\n/)
      await terminal.type(':wq\n')
      await terminal.until(/exit code 0/)
      expect(readFileSync(join(dir, 'poem.txt'), 'utf8')).toBe('first\nsecond añadido 日本\nfourth\nthird\n')
    })
  }

  drives('less', 'pages, searches and quits', async () => {
    const numbers = Array.from({ length: 300 }, (_, at) => `line ${at + 1}`)
    writeFileSync(join(dir, 'numbers.txt'), `${numbers.join('\n')}\n`)
    const terminal = await openTerminal(client, 'less numbers.txt', { size: '40x11' })
    expect(await terminal.until(/numbers\.txt/)).toMatch(/^line 1\n[\s\S]*\nline 10\nnumbers.txt/)
    await terminal.keys('page-down down')
    expect(await terminal.until(/line 21\n/)).toMatch(/^line 12\n/)
    await terminal.type('/line 200\n')
    expect(await terminal.until(/line 209/)).toMatch(/^line 200\n/)
    await terminal.keys('q')
    expect(await terminal.until(/exit code 0/)).toMatch(/^\(the screen is empty\)/)
  })

  drives('top', 'is shown while it goes on, and quits', async () => {
    const terminal = await openTerminal(client, 'top -d 0.5', { size: '90x15' })
    const screen = await terminal.until(/PID +USER/)
    expect(screen).toMatch(/Tasks:/)
    expect(screen.split('\n[job')[0]?.split('\n').length).toBeLessThanOrEqual(15)
    const before = screen
    await terminal.until(/PID +USER/)
    for (let i = 0; i < 20 && terminal.screen() === before; i++) await terminal.keys('space')
    expect(terminal.screen()).not.toBe(before)
    await terminal.keys('q')
    await terminal.until(/exit code 0/)
  })

  drives('python3', 'answers line by line, and ends by ctrl-d', async () => {
    const terminal = await openTerminal(client, 'PYTHON_BASIC_REPL=1 python3 -q')
    await terminal.until(/>>>/)
    await terminal.type('x = 6 * 7\nprint("answer", x)\n')
    expect(await terminal.until(/answer 42/)).toMatch(/>>> x = 6 \* 7\n/)
    await terminal.type('len(input("A word: "))\n')
    await terminal.until(/A word:/)
    await terminal.type('elevenchars\n')
    await terminal.until(/\n11\n/)
    await terminal.type('while True: pass\n\n')
    await terminal.keys('ctrl-c')
    await terminal.until(/KeyboardInterrupt/)
    await terminal.keys('ctrl-d')
    // a Python that was interrupted ends as by that signal
    await terminal.until(/exit code (0|130)/)
  })

  drives('git', 'add -p takes one hunk of two', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `row ${at}`)
    const repository = join(dir, 'repo')
    const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' })
    execFileSync('git', ['init', '-q', repository])
    writeFileSync(join(repository, 'f'), `${lines.join('\n')}\n`)
    git('add', 'f')
    git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'one')
    writeFileSync(join(repository, 'f'), `${lines.with(2, 'CHANGED 2').with(35, 'CHANGED 35').join('\n')}\n`)
    const terminal = await openTerminal(client, 'git -C repo add -p')
    expect(await terminal.until(/\(1\/2\) Stage this hunk/)).toContain('+CHANGED 2')
    await terminal.type('n\n')
    expect(await terminal.until(/\(2\/2\) Stage this hunk/)).toContain('+CHANGED 35')
    await terminal.type('y\n')
    await terminal.until(/exit code 0/)
    expect(git('diff', '--cached')).toContain('+CHANGED 35')
    expect(git('diff', '--cached')).not.toContain('+CHANGED 2\n')
  })

  drives('git', 'log is paged, as for a person', async () => {
    const terminal = await openTerminal(client, 'git -C repo log --stat', { size: '80x20' })
    const screen = await terminal.until(/commit [0-9a-f]{40}|not a git/)
    expect(screen).toContain('one')
  })

  drives('bash', 'is itself driven: prompt, history, completion', async () => {
    writeFileSync(join(dir, 'a-rather-long-name.txt'), 'inside\n')
    const terminal = await openTerminal(client, "PS1='ready> ' bash --norc --noprofile -i")
    await terminal.until(/ready>/)
    await terminal.type('cat a-rath', 'tab enter')
    expect(await terminal.until(/inside/)).toContain('cat a-rather-long-name.txt')
    await terminal.type('false\n')
    await terminal.keys('up up enter')
    await terminal.until(/inside[\s\S]*inside/)
    await terminal.type('sleep 600\n')
    await terminal.keys('ctrl-z')
    await terminal.until(/Stopped/)
    await terminal.type('fg\n')
    await terminal.until(/> fg\nsleep 600/)
    await terminal.keys('ctrl-c')
    await terminal.until(/\^C\nready>/)
    await terminal.type('exit 3\n')
    await terminal.until(/exit code 3/)
  })

  drives('bash', 'asks on its terminal as ssh does: a question, then a password that is not shown', async () => {
    const asks = [
      `exec 3<> /dev/tty`,
      `printf "Are you sure you want to continue connecting (yes/no)? " >&3; read -r answer <&3`,
      `stty -echo <&3; printf "me@host's password: " >&3; read -r secret <&3; stty echo <&3`,
      `printf '\\n%s: logged in with %s characters\\n' "$answer" "$(printf %s "$secret" | wc -c)"`,
    ]
    writeFileSync(join(dir, 'ask.sh'), `${asks.join('\n')}\n`)
    const terminal = await openTerminal(client, 'bash ask.sh < /dev/null')
    await terminal.until(/continue connecting/)
    await terminal.type('yes\n')
    await terminal.until(/password:/)
    await terminal.type('open sesame\n')
    expect(await terminal.until(/exit code 0/)).toMatch(/yes: logged in with 11 characters/)
    expect(terminal.screen()).not.toContain('sesame')
  })
})
