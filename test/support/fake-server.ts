import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processesNaming } from './processes.ts'
import type { Case } from './verifies.ts'

const FAKE = fileURLToPath(new URL('fake-mcp-server.mjs', import.meta.url))

/** A misbehaving server as it is declared in the world's workspaces; its program lies where both sides see it. */
export function fake({ world, backend }: Case, how: Record<string, unknown> = {}): { command: string; args: string[] } {
  const program = join(world.root, 'fake-mcp-server.mjs')
  if (!existsSync(program)) copyFileSync(FAKE, program)
  return { command: backend === 'local' ? process.execPath : 'node', args: [program, JSON.stringify(how)] }
}

/** The processes of a world's servers, or others that name it. */
export const running = ({ world }: Case, part = 'fake-mcp-server.mjs') =>
  processesNaming(world.root).filter(({ command }) => command.includes(part))
