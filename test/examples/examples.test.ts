import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure.mjs'
import { npmTool } from '../support/npm-tool.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
describe('the examples', () => {
  let home: string
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'at-ex-'))
    await ensureBuilt(text => process.stderr.write(`${text}\n`))
  }, 200_000)
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  const example = async (path: string, ...args: string[]) => {
    const env = { ...process.env, XDG_DATA_HOME: join(home, 'data'), XDG_RUNTIME_DIR: home }
    return (await run(process.execPath, [path, ...args], { cwd: home, env, timeout: 60_000 })).stdout
  }

  it('a command over stdio', async () => {
    expect(await example(join(ROOT, 'examples/run-a-command.mjs'), 'echo from-the-example')).toMatch(
      /^from-the-example\n\[exit code 0, after /,
    )
  }, 90_000)

  it('the library', async () => {
    expect(await example(join(ROOT, 'examples/library.mjs'))).toMatch(/^HELLO\n\[exit code 0, after /)
  }, 90_000)

  it('the AI SDK', async () => {
    expect(await example(join(ROOT, 'examples/ai-sdk.mjs'))).toMatch(/^The largest one is 3\n/)
  }, 90_000)

  it('LangChain', async context => {
    const packages = ['@langchain/core@1', '@langchain/mcp-adapters@1', '@modelcontextprotocol/sdk@1']
    const tool = npmTool('langchain', packages)
    if ('reason' in tool) return context.skip(tool.reason)
    // Where the example lies decides which packages it finds.
    const path = join(tool.folder, `langchain-${process.pid}.mjs`)
    cpSync(join(ROOT, 'examples/langchain.mjs'), path)
    const link = join(tool.folder, 'node_modules/atelier')
    rmSync(link, { force: true })
    symlinkSync(ROOT, link)
    try {
      expect(await example(path)).toMatch(/^The largest one is 3\n/)
    } finally {
      rmSync(path)
    }
  }, 300_000)
})
