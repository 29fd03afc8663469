/** A server with fake tools and workspaces behind the real loader, session and stdio: what the tests of these start. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createSession, type McpServices } from '../../src/mcp/session.ts'
import type { SessionParts } from '../../src/mcp/session-context.ts'
import { runStdio, type StdioHandover } from '../../src/stdio.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'

const say = (what: string): void => {
  const file = process.env.FIXTURE_LOG
  if (file !== undefined) appendFileSync(file, `${what}\n`)
}

const parts: SessionParts = {
  tools: {
    list: async () => [{ name: 'Echo', inputSchema: { type: 'object' } }],
    async run(name, args, { signal }) {
      if (name === 'Stray') {
        // biome-ignore lint/suspicious/noConsole: that it does no harm is what is tested
        console.log('stray line')
        process.stdout.write('stray write\n')
      }
      if (name === 'Big') return { text: 'x'.repeat(Number(args.bytes)) }
      if (name === 'Wait') {
        say('waiting')
        await sleep(60_000, undefined, { signal }).catch(() => say('aborted'))
      }
      return { text: JSON.stringify(args).slice(0, 100) }
    },
  },
  directory: () => ({ list: async () => [] }) as never,
  instructions: () => '',
}

async function services(): Promise<McpServices> {
  await sleep(Number(process.env.FIXTURE_DELAY ?? 0))
  if (process.env.FIXTURE_BAD !== undefined) {
    throw new WorkspaceError('invalid_argument', '"port" is "x": a number is needed.', { hint: 'Correct it.' })
  }
  const manager = {
    acquire: async () => {
      say('acquired')
      return { workspace: { id: 'fixture', watches: { renew() {} } }, release: () => say('released') }
    },
    opened: () => undefined,
    [Symbol.asyncDispose]: async () => {
      say('goodbye')
      if (process.env.FIXTURE_STUCK !== undefined) await sleep(60_000)
    },
  }
  return { manager: manager as never, limits: DEFAULT_LIMITS, logger: silentLogger }
}

export async function main(_args: string[], options: { handover?: () => StdioHandover }): Promise<void> {
  setInterval(() => {}, 1_000)
  runStdio({
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    services,
    scope: { user: 'u', agent: '', session: '' },
    handover: options.handover,
    createSession: (given, session) => createSession(given, session, { parts }),
    onEnd: code => {
      say(`end ${code}`)
      process.exit(code)
    },
  })
}
