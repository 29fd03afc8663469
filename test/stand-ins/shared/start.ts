import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL('../../../scripts/stand-in.mjs', import.meta.url))
const START_MS = 90_000

/** Starts a stand-in in a process of its own, which ends with this one; gives its URL without letting anything else run meanwhile. */
export function startStandIn(name: string, flags: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-url-'))
  const out = openSync(join(folder, 'url'), 'w')
  const child = spawn(process.execPath, [RUNNER, name, '--until-stdin-ends', ...flags], { stdio: ['pipe', out, 'inherit'] })
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  closeSync(out)
  const still = new Int32Array(new SharedArrayBuffer(4))
  try {
    for (const end = Date.now() + START_MS; Date.now() < end; Atomics.wait(still, 0, 0, 20)) {
      const line = readFileSync(join(folder, 'url'), 'utf8')
      if (line.endsWith('\n')) return line.trim()
    }
    child.kill()
    throw new Error(`the stand-in ${name} did not start within ${START_MS} ms`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const SEND = 'fetch(process.argv[1],{method:process.argv[2],body:process.argv[3]}).then(r=>process.exit(r.ok?0:1))'

/** One request to a stand-in's control endpoints, without letting anything else run meanwhile. */
export function tellStandIn(url: string, method: string, body: unknown): void {
  execFileSync(process.execPath, ['-e', SEND, url, method, JSON.stringify(body)])
}
