import { HOME } from '../shared/containers.ts'
import type { Sandboxes } from '../shared/sandboxes.ts'
import type { Sandbox, SandboxData } from './sandbox.ts'

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Variables of every process that the toolbox starts. */
export function environmentOf({ id, data }: Sandbox): Record<string, string> {
  return { PATH, HOME, DAYTONA_SANDBOX_ID: id, ...data.env }
}

/** The first of zsh, bash and sh that `/etc/shells` names. */
export async function loginShell(sandboxes: Sandboxes<SandboxData>, id: string): Promise<string> {
  const text = await readText(sandboxes, id, '/etc/shells').catch(() => '')
  const shells = text.split('\n').filter(line => line.startsWith('/'))
  return ['zsh', 'bash'].flatMap(name => shells.filter(path => path.endsWith(`/${name}`)))[0] ?? '/bin/sh'
}

async function readText(sandboxes: Sandboxes<SandboxData>, id: string, path: string): Promise<string> {
  const { bytes } = await sandboxes.read(id, path)
  const parts: Buffer[] = []
  for await (const part of bytes) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
