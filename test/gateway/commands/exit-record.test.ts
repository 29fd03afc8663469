import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JobFolders } from '../../../src/gateway/commands/job-record.ts'
import { isQuietText } from '../../../src/gateway/commands/quiet-text.ts'
import { BOOT, bashArgs, bashBoot, READY_BOOT, readyMessage } from '../../../src/gateway/commands/shell-boot.ts'

const version = execFileSync('bash', ['-c', 'printf %s%s "${BASH_VERSINFO[@]:0:2}"'], { encoding: 'utf8' })
const STATE = { env: {}, cwd: '/', restore: '', posix: false }

let base: string
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'atelier-exit-'))
  writeFileSync(join(base, 'sourced'), 'exit 6\n')
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

let count = 0

interface Options {
  foreground?: boolean
  /** The shell waits for its code. */
  ahead?: boolean
  /** Comes once the text has said `up`. */
  signal?: NodeJS.Signals
}

/** As a job that was one from the start, and as a command that may become one. */
const WAYS: Options[] = [{ foreground: false }, { foreground: true }, { foreground: true, ahead: true }]

/** Runs `text` as a job of bash. */
async function run(text: string, { foreground = false, ahead = false, signal }: Options = {}) {
  const folders = new JobFolders(base)
  const id = String(count++)
  folders.create(id)
  const quiet = isQuietText(text, STATE)
  const dump = foreground && !quiet ? { dump: join(folders.directory(id), 'dump') } : {}
  const code = bashBoot({ run: 'r', exitRecord: folders.exitRecord(id), text, restore: false, posix: false, quiet, ...dump })
  const env = { PATH: process.env.PATH, ...(ahead ? {} : { _B: code, _X: text }) }
  const child = spawn('bash', bashArgs(ahead ? READY_BOOT : BOOT), {
    env,
    cwd: base,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', ahead ? 'pipe' : 'ignore'],
  }) as ChildProcessByStdio<null, Readable, null>
  if (ahead) (child.stdio[3] as Writable).end(readyMessage(code, text))
  const over = once(child, 'exit')
  if (signal !== undefined) {
    await once(child.stdout, 'data')
    // a bash that is about to wait for a child may miss the first
    while (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await setTimeout(20)
    }
  }
  const [exit, by] = await over
  if (signal !== undefined) execFileSync('bash', ['-c', `kill -KILL -${child.pid} 2>/dev/null || :`])
  return { exit, by, record: await folders.exitCode(id) }
}

const ENDS: [string, number][] = [
  ['true', 0],
  ['ls /nowhere-at-all', 2],
  ['echo a | cat', 0],
  ['(exit 3)', 3],
  ['for i in 1 2; do true; done', 0],
  ['exit', 0],
  ['false; exit 0', 0],
  ['f() { builtin exit 4; }; f; echo not here', 4],
  ['set -e; false; true', 1],
  ['echo $(( 1 + 1 )) > /dev/null', 0],
  ['eval "exit 5"', 5],
  ['. ./sourced', 6],
  ['true; . /dev/null', 0],
  ["trap 'true' EXIT; (exit 7)", 7],
  ["trap 'true' DEBUG; (exit 8)", 8],
  ["trap 'exit 9' TERM; kill $$; sleep 60", 9],
  ['syntax ((', 2],
  ['# only a remark', 0],
]

describe('the exit record of a job of bash', () => {
  it.each(ENDS)('holds the status after %j', async (text, status) => {
    for (const way of WAYS) {
      expect(await run(text, way)).toEqual({ exit: status, by: null, record: status })
    }
  })

  // an older bash does not tell
  const texts = [
    'echo up; sleep 60',
    'true; echo up | cat; sleep 60',
    '(echo up; exec sleep 60)',
    'while true; do echo up; sleep 60; done',
    'export A=1; echo up; sleep 60; true',
    "trap 'true' EXIT; echo up; sleep 60",
    'eval "(echo up; exec sleep 60)"',
    'f() { echo up; read -r x < <(sleep 60); }; f',
  ]
  it.skipIf(version < '52').each(texts)('holds none after a signal in the midst of %j', async text => {
    for (const way of WAYS) {
      for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
        expect(await run(text, { ...way, signal })).toEqual({ exit: null, by: signal, record: undefined })
      }
    }
  })
})
