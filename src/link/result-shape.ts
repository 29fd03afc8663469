import type { Method, Result } from '../gateway/protocol.ts'
import { WorkspaceError } from '../lib/errors.ts'

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'array'

/** The fields that a result can't do without; what a gateway sends is not to be trusted. */
const FIELDS: Record<Method, Record<string, Kind>> = {
  open: {
    instance: 'string',
    version: 'string',
    pid: 'number',
    platform: 'string',
    workdir: 'string',
    root: 'string',
    jobs: 'array',
  },
  ping: { now: 'number' },
  info: {
    instance: 'string',
    pid: 'number',
    version: 'string',
    links: 'number',
    jobs: 'number',
    running: 'number',
    rssBytes: 'number',
  },
  reset: { jobsEnded: 'number' },
  'session.forget': {},
  'command.run': { status: 'string', durationMs: 'number', output: 'object', cwd: 'string', notices: 'array' },
  'job.list': { jobs: 'array' },
  'job.read': { job: 'object', output: 'object', nextOffset: 'number', notices: 'array' },
  'job.input': { bytes: 'number' },
  'job.kill': { id: 'string', status: 'string' },
  'file.read': { kind: 'string', path: 'string', size: 'number' },
  'file.write': { path: 'string', created: 'boolean', bytes: 'number', notices: 'array' },
  'file.edit': { path: 'string', replacements: 'number', excerpt: 'array', notices: 'array' },
  'file.stat': { path: 'string', type: 'string', size: 'number', mode: 'number', mtimeMs: 'number' },
  'file.list': { path: 'string', entries: 'array', truncated: 'boolean' },
  'file.bytes': { path: 'string', size: 'number', data: 'string' },
  'file.get': { path: 'string', size: 'number', sha256: 'string', mode: 'number' },
  'file.put': { path: 'string', size: 'number', sha256: 'string' },
  'file.append': { path: 'string', created: 'boolean', bytes: 'number' },
  'file.remove': { removed: 'boolean' },
  'file.mkdir': { path: 'string' },
  'file.move': { path: 'string' },
  'file.copy': { path: 'string', files: 'number', bytes: 'number', skipped: 'array' },
  'file.tree': { path: 'string', entries: 'array', truncated: 'boolean' },
  'search.glob': { path: 'string', files: 'array', total: 'number', truncated: 'boolean', notices: 'array' },
  'search.grep': {
    path: 'string',
    mode: 'string',
    lines: 'array',
    files: 'array',
    counts: 'array',
    truncated: 'boolean',
    notices: 'array',
  },
  'nested.start': { server: 'string' },
  'nested.send': {},
  'nested.stop': { stopped: 'boolean' },
  'nested.list': { servers: 'array' },
  'watch.start': { path: 'string', type: 'string', mode: 'string', notices: 'array' },
  'watch.stop': {},
}

/** The result with its outline checked; throws `protocol` for one that lacks a field or has it in another kind. */
export function checkResult<M extends Method>(method: M, result: unknown): Result<M> {
  if (kindOf(result) !== 'object') throw new WorkspaceError('protocol', `The gateway answered "${method}" without a result`)
  for (const [field, kind] of Object.entries(FIELDS[method])) {
    if (kindOf((result as Record<string, unknown>)[field]) === kind) continue
    throw new WorkspaceError('protocol', `The gateway answered "${method}" with a bad field "${field}"`)
  }
  return result as Result<M>
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
