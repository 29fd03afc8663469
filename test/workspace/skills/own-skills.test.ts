import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { encode } from 'gpt-tokenizer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Skill } from '../../../src/workspace/skills/port.ts'
import { skillsBlock } from '../../../src/workspace/skills/prompt-block.ts'
import { readFrontmatter } from '../../../src/workspace/skills/reader/reader.ts'
import { judge } from '../../../src/workspace/skills/skill-rules.ts'

/** The skills that come with Atelier: their form, and that every command in them runs as it is written. */
const SKILLS = join(import.meta.dirname, '../../../skills')
const NAMES = readdirSync(SKILLS).sort()
const text = (name: string): string => readFileSync(join(SKILLS, name, 'SKILL.md'), 'utf8')
const blocks = (name: string): string[] => [...text(name).matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, code = '']) => code)

const has = (program: string): boolean => spawnSync('bash', ['-c', `command -v ${program}`]).status === 0

let folder: string

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-own-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'reader', '--out', join(folder, 'dist')])
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function place(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

/** Runs commands as Bash would; a failure is an error with what was printed. */
function run(code: string, cwd: string, path = ''): string {
  const env = {
    PATH: `${path}:${process.env.PATH}`,
    HOME: folder,
    LANG: 'C.UTF-8',
    ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' },
  }
  return execFileSync('bash', ['-e', '-c', code], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  })
}

describe('each of them', () => {
  it('is five', () => {
    expect(NAMES).toHaveLength(5)
  })

  it('follows every rule of the format', async () => {
    const headers = await readFrontmatter(NAMES.map(text), { script: join(folder, 'dist/reader.mjs') })
    for (const [at, name] of NAMES.entries()) {
      const verdict = judge(headers[at]!, name)
      expect(verdict).toMatchObject({ name, warnings: [], fields: { license: 'Apache-2.0' } })
      expect(text(name).split('\n').length).toBeLessThan(500)
      expect(encode(text(name)).length).toBeLessThan(2_000)
    }
    const skills = headers.flatMap(header => ('fields' in header ? [header.fields as unknown as Skill] : []))
    expect(encode(skillsBlock(skills)).length).toBeLessThan(100 * NAMES.length)
    expect(skillsBlock(skills)).not.toContain('…')
  })

  it('names only tools and skills that there are', async () => {
    const { TOOLS } = await import('../../../src/tools/all-tools.ts')
    const known = [...TOOLS.map(tool => tool.name), ...NAMES]
    const named = NAMES.flatMap(name =>
      [
        ...text(name).matchAll(
          /`(Bash\w*|Kill\w*|Read|Write|Edit|Glob|Grep|(?:mcp|skill|workspace|offload)_[a-z_]+)`|skill `([\w-]+)`/g,
        ),
      ].map(([, tool, skill]) => tool ?? skill ?? ''),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(name => !known.includes(name))).toEqual([])
  })
})

describe('the commands of', () => {
  it('working-in-a-workspace', () => {
    const cwd = place('around')
    run('git init -q -b main . && echo x > a.txt', cwd)
    const [look, pipe] = blocks('working-in-a-workspace').map(code => run(code, cwd))
    expect(look).toContain('a.txt')
    expect(pipe).toBe('a\nb\n')
  })

  it('adding-an-mcp-server', () => {
    const path = place('server')
    writeFileSync(join(path, 'COMMAND'), '#!/bin/sh\nread -r line\necho "{\\"asked\\":$line}"\n')
    chmodSync(join(path, 'COMMAND'), 0o755)
    const [probe = ''] = blocks('adding-an-mcp-server')
    const asked = JSON.parse(run(probe, path, path)).asked
    expect(asked).toMatchObject({ jsonrpc: '2.0', method: 'initialize', params: { clientInfo: { name: 'probe' } } })
  })

  it('long-running-servers', async context => {
    if (!has('python3')) return context.skip('python3 is not installed')
    const port = await freePort()
    const cwd = place('served')
    const [start = '', free = '', ready = '', curl = ''] = blocks('long-running-servers').map(code =>
      code.replaceAll('8765', String(port)),
    )
    expect(run(free, cwd)).toBe('free\n')
    const server = spawn('bash', ['-c', `exec ${start}`], { cwd, stdio: 'ignore' })
    try {
      expect(run(ready, cwd)).toMatch(/^ready after \d+\n$/)
      expect(run(free, cwd)).toBe('taken\n')
      if (has('curl')) expect(run(curl, cwd)).toBe('200\n')
    } finally {
      const ended = new Promise(resolve => server.once('exit', resolve))
      server.kill('SIGKILL')
      await ended
    }
  })

  it('git-worktrees', () => {
    const repo = place('repo')
    run('git init -q -b main . && echo one > a.txt && git add a.txt && git commit -q -m one', repo)
    const [make = '', list = '', update = '', merge = '', clean = ''] = blocks('git-worktrees')
    expect(run(make, repo)).toContain('## fix-login')
    expect(run(list, repo)).toContain('repo-fix-login')
    run('echo two > b.txt && git add b.txt && git commit -q -m two', join(folder, 'repo-fix-login'))
    run('echo three > c.txt && git add c.txt && git commit -q -m three', repo)
    run(update, join(folder, 'repo-fix-login'))
    run(merge, repo)
    run(clean, repo)
    expect(existsSync(join(repo, 'b.txt'))).toBe(true)
    expect(existsSync(join(folder, 'repo-fix-login'))).toBe(false)
    expect(run('git branch --format "%(refname:short)"', repo)).toBe('main\n')
  })

  it('large-files-and-logs', context => {
    if (!has('python3')) return context.skip('python3 is not installed')
    const cwd = place('logs')
    const lines = Array.from(
      { length: 500 },
      (_, n) => `2026-01-01 10:0${n % 5}:00 ${n % 50 === 7 ? `ERROR request ${n} failed` : 'INFO ok'}`,
    )
    writeFileSync(join(cwd, 'app.log'), `${lines.join('\n')}\n`)
    writeFileSync(join(cwd, 'app.log.1.gz'), gzipSync(lines.join('\n')))
    writeFileSync(join(cwd, 'data.csv'), 'id,kind\n1,a\n2,b\n3,a\n')
    writeFileSync(join(cwd, 'data.json'), '{"items":[{"id":1,"tags":["x"]}],"n":2}')
    const outputs = blocks('large-files-and-logs').map(code => run(code, cwd))
    expect(outputs).toEqual([
      expect.stringContaining('500 app.log'),
      expect.stringMatching(/^ +10 N-N-N N:N:N ERROR request N failed\n$/),
      expect.stringMatching(/^8:.*ERROR request 7 failed\n$/),
      expect.stringMatching(/^(2026-01-01 10:02:00 .*\n){50}$/),
      'id,kind\n1,a\n2 a\n1 b\n',
      expect.stringContaining('"1 items"'),
      '10\n',
      'exit 0\n99998\n99999\n100000\n',
    ])
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
