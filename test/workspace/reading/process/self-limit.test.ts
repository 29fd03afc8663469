import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf, isAlive, killOne, until } from '../../../support/processes.ts'

const SOURCE = fileURLToPath(new URL('../../../../src/workspace/reading/process/self-limit.ts', import.meta.url))
/** Starts its argument as a child, and lives until it is killed. */
const HOST = `require('node:child_process').spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' })
setInterval(() => {}, 1e6)`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'atelier-limit-'))
  buildSync({ entryPoints: [SOURCE], outfile: join(folder, 'self-limit.mjs'), bundle: true, platform: 'node', format: 'esm' })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A host with a child that limits itself and then does `work`; the ids of both. */
async function hosted(work: string, { beside }: { beside: boolean }) {
  const bounds = JSON.stringify({ maxBytes: 1e15, maxMs: 1e15 })
  const script = join(folder, `beside-${beside}.mjs`)
  const limit = `import { limitSelf } from './self-limit.mjs'\nlimitSelf(${bounds}, { beside: ${beside} })`
  writeFileSync(script, `${limit}\nconsole.log('limited')\n${work}\n`)
  const host = spawn(process.execPath, ['-e', HOST, script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise(resolve => host.stdout.once('data', resolve))
  const [child] = childrenOf(host.pid ?? -1)
  return { host: host.pid, child: child?.pid ?? -1 }
}

describe.runIf(process.platform === 'linux')('a process that limits itself', () => {
  it.each([
    ['never comes to rest', 'for (;;) {}', true],
    ['waits', 'setInterval(() => {}, 1e6)', false],
  ])('and %s ends with its host', async (_, work, beside) => {
    const { host, child } = await hosted(work, { beside })
    expect(isAlive(child)).toBe(true)
    killOne(host)
    await until(() => !isAlive(child), 'the child is gone', 20_000).finally(() => isAlive(child) && killOne(child))
  })
})
