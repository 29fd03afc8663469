import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { RunResult } from '../../../src/gateway/protocol.ts'
import { startedAhead } from './ready-shell-fixture.ts'
import { type Fixture, fixture } from './service-fixture.ts'
import { base, CASES, type ShellCase } from './shell-cases.ts'

const LINKS = mkdtempSync(join(tmpdir(), 'atelier-busybox-'))
afterAll(() => rmSync(LINKS, { recursive: true, force: true }))

const SHELLS = [
  { name: 'bash', path: '/bin/bash', bash: true },
  { name: 'bash that was started ahead', path: '/bin/bash', bash: true, ahead: true },
  { name: 'dash', path: '/bin/dash', bash: false },
  { name: 'busybox', path: busyboxShell(), bash: false },
]

/** Cases in which a plain sh keeps the state from before: it can't be told of an own EXIT trap, or of a signal but TERM. */
const SH_BEFORE = new Set([
  'own EXIT trap + exit',
  'own EXIT trap + set -e',
  'trap "" EXIT; exit',
  'trap - EXIT; exit',
  'sourced file: trap + exit',
  'kill -HUP $$',
])

/** busybox by a link named sh, since its applet is chosen by name. */
function busyboxShell(): string {
  return join(LINKS, 'sh')
}

function prepareBusybox(): boolean {
  if (!existsSync('/bin/busybox')) return false
  spawnSync('ln', ['-sf', '/bin/busybox', busyboxShell()])
  return true
}

async function runCase(f: Fixture, one: ShellCase, ahead = false): Promise<RunResult> {
  mkdirSync(join(f.workdir, 'x'))
  mkdirSync(join(f.workdir, 'y'))
  const context = { link: { id: 'l', owner: 'o', env: { ...base, DUMPDIR: join(f.directory, 'run') } } }
  if (ahead) await f.run('true', {}, context)
  for (const text of one.pre ?? []) await f.run(text, {}, context)
  return f.run(one.text, one.timeout === undefined ? {} : { timeoutMs: one.timeout }, context)
}

/** Value of a shell expression in the session's next command, as bytes. */
async function bytesOf(f: Fixture, expression: string): Promise<string> {
  const result = await f.run(`printf %s "${expression}" | PATH=/usr/bin:/bin od -An -v -tx1`)
  const hex = result.output.head.replaceAll(/\s+/g, '')
  return Buffer.from(hex, 'hex').toString('latin1')
}

function plainStatus(shell: string, text: string): number | null {
  const directory = mkdtempSync(join(tmpdir(), 'atelier-plain-'))
  mkdirSync(join(directory, 'x'))
  mkdirSync(join(directory, 'y'))
  const done = spawnSync(shell, ['-c', '--', text], {
    cwd: directory,
    env: base,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 20_000,
  })
  rmSync(directory, { recursive: true, force: true })
  return done.status
}

for (const shell of SHELLS) {
  const there = shell.name === 'busybox' ? prepareBusybox() : existsSync(shell.path)
  describe.skipIf(!there)(`state after a command of ${shell.name}${there ? '' : ' (not installed here)'}`, () => {
    for (const one of CASES.filter(each => shell.bash || !each.bashonly)) {
      it(one.name, { timeout: 60_000 }, async () => {
        const f = shell.ahead ? startedAhead(await fixture({ shellPath: shell.path })) : await fixture({ shellPath: shell.path })
        try {
          if (one.throws) {
            await expect(runCase(f, one, shell.ahead)).rejects.toMatchObject({ code: 'invalid_argument' })
            return
          }
          const result = await runCase(f, one, shell.ahead)
          if (one.notes) expect(result.notices.join()).toMatch(/is gone/)
          const before = !shell.bash && SH_BEFORE.has(one.name)
          if (one.next) expect((await f.run(one.next[0])).output.head).toBe(one.next[1])
          else if (one.cwd !== null) {
            const cwd = before ? '.' : one.cwd
            const want = cwd === '.' ? f.workdir : `${f.workdir}/${cwd}`
            expect(await bytesOf(f, '$PWD')).toBe(want)
            expect(await bytesOf(f, `\${A-none}`)).toBe(one.A ?? 'none')
          } else expect((await f.run('echo alive')).output.head).toBe('alive\n')
          for (const [name, value] of Object.entries(one.env ?? {})) {
            if (name !== 'PATH' || value !== undefined) expect(await bytesOf(f, `\${${name}-none}`)).toBe(value ?? 'none')
          }
          if (one.same !== false && !one.timeout && !one.rule && result.signal === undefined) {
            expect(result.exitCode).toBe(plainStatus(shell.path, one.text) ?? 0)
          }
        } finally {
          await f.close()
        }
      })
    }
  })
}
