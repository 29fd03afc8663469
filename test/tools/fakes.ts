import type { JobInfo, RunResult } from '../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../src/lib/errors.ts'
import { runTool } from '../../src/tools/run-tool.ts'
import type { ToolContext } from '../../src/tools/tool.ts'
import type { WorkspaceSummary } from '../../src/tools/workspace-directory.ts'
import { DEFAULT_LIMITS } from '../../src/workspace/limits.ts'
import type { Files } from '../../src/workspace/ports.ts'
import { createViewer } from '../../src/workspace/reading/viewer.ts'

/** What a fake port answers: a value, an error to throw, or a function of the call's arguments. */
type Answer = unknown

export interface PortCall {
  name: string
  args: unknown[]
}

/** Runs a tool over fake ports, given as `shell.run`, `files.read`, `directory.list`, …; notes the calls. */
export async function call(tool: string, args: Record<string, unknown>, ports: Record<string, Answer> = {}) {
  const calls: PortCall[] = []
  const part = (prefix: string, fields: object = {}) =>
    new Proxy(fields, {
      get(target, key) {
        // Awaited, it is no promise.
        if (key === 'then') return undefined
        if (key in target) return Reflect.get(target, key)
        return async (...given: unknown[]) => {
          const name = `${prefix}.${String(key)}`
          calls.push({ name, args: given })
          if (!(name in ports)) throw new WorkspaceError('unavailable', `${name} is not there.`)
          const answer = ports[name]
          if (answer instanceof Error) throw answer
          return typeof answer === 'function' ? answer(...given) : answer
        }
      },
    })
  const files = part('files', { workdir: '/work' }) as Files
  const workspace = {
    id: 'id-1',
    shell: part('shell'),
    files,
    // The real one over the fake files, unless it is a fake itself.
    viewer: Object.keys(ports).some(name => name.startsWith('viewer.'))
      ? part('viewer')
      : createViewer(files, { limits: DEFAULT_LIMITS }),
    search: part('search'),
    offload: part('offload'),
  }
  const context = {
    session: 's1',
    conversation: 'c1',
    signal: new AbortController().signal,
    workspace: async () => workspace,
    directory: part('directory'),
    nested: async () => part('nested'),
    onProgress: undefined,
  } as unknown as ToolContext
  const answer = await runTool(tool, args, context)
  return { ...answer, calls, asked: calls.map(({ name, args: given }) => [name, given[0]]) }
}

export const plainOutput = (head: string) => ({
  head,
  tail: '',
  omittedBytes: 0,
  totalBytes: Buffer.byteLength(head),
  totalLines: head.split('\n').length - 1,
})

export function runResult(fields: Partial<RunResult> = {}): RunResult {
  return { status: 'exited', exitCode: 0, durationMs: 12, output: plainOutput('hi\n'), cwd: '/work', notices: [], ...fields }
}

export function job(fields: Partial<JobInfo> = {}): JobInfo {
  return {
    id: 'j1',
    command: 'npm run dev',
    status: 'running',
    pid: 12,
    startedAt: '2026-01-01T00:00:00Z',
    log: '/r/.atelier/jobs/j1/log',
    bytes: 100,
    input: 'none',
    kind: 'command',
    ...fields,
  }
}

export function summary(fields: Partial<WorkspaceSummary> = {}): WorkspaceSummary {
  return {
    id: 'id-1',
    name: 'demo',
    backend: 'local',
    state: 'running',
    current: true,
    workdir: '/work',
    root: '/data/demo',
    createdAt: '2026-01-01T00:00:00Z',
    madeByAtelier: true,
    details: {},
    ...fields,
  }
}

export const lines = (...text: string[]): string => text.join('\n')
