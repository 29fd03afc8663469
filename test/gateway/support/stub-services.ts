import type { Handlers } from '../../../src/gateway/dispatch.ts'
import type { Services, ServicesOptions } from '../../../src/gateway/services.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'

/** What happened in a stub gateway, for assertions. */
export interface StubRecord {
  lost: string[]
  ended: string[]
  calls: string[]
  aborted: string[]
  running: Set<string>
}

/**
 * Services whose commands are words: `hold` waits until cancelled, `stream:N` streams N bytes, `echo:TEXT` answers TEXT,
 * `fail` throws, `job:N` counts as running work until its owner is ended.
 */
export function createStubServices(options: ServicesOptions, record: StubRecord = newRecord()): Services {
  const { instance, workdir, root } = options
  const handlers = {
    open: async () => ({
      instance,
      version: 'stub',
      pid: process.pid,
      platform: process.platform,
      workdir,
      root,
      shell: null,
      ripgrep: null,
      jobs: [],
    }),
    ping: async () => ({ now: Date.now() }),
    info: async () => ({
      ...{ instance, pid: process.pid, version: 'stub', startedAt: '', links: options.links() },
      ...{ jobs: 0, running: record.running.size, nested: 0, rssBytes: process.memoryUsage.rss() },
    }),
    reset: async () => ({ jobsEnded: 0 }),
    'session.forget': async () => ({}),
    'command.run': async (params, context) => run(params.command, context, record),
    'file.put': async (params, { input }) => {
      let size = 0
      for await (const chunk of input) size += chunk.length
      return { path: params.path, size, sha256: '' }
    },
    'file.bytes': async params => ({ path: params.path, size: params.length, data: 'é'.repeat(params.length) }),
  } as Partial<Handlers> as Handlers
  return {
    handlers,
    work: {
      linkLost: link => record.lost.push(link),
      inherit() {},
      end: async ask => {
        const whose = ask()
        record.ended.push('owner' in whose ? whose.owner : whose.link)
        record.running.clear()
      },
      busy: () => record.running.size > 0,
    },
    end: async () => record.running.clear(),
  }
}

export function newRecord(): StubRecord {
  return { lost: [], ended: [], calls: [], aborted: [], running: new Set() }
}

const run = async (command: string, context: Parameters<Handlers['command.run']>[1], record: StubRecord) => {
  record.calls.push(command)
  const [word, argument = ''] = command.split(':')
  if (word === 'fail') throw new WorkspaceError('not_found', 'nothing there', { hint: 'look elsewhere' })
  if (word === 'job') record.running.add(argument)
  if (word === 'hold') await new Promise<void>(resolve => context.signal.addEventListener('abort', () => resolve()))
  if (context.signal.aborted) record.aborted.push(command)
  if (word === 'sleep') await new Promise(resolve => setTimeout(resolve, Number(argument)))
  if (word === 'stream') {
    for (let left = Number(argument); left > 0; left -= 65_536)
      await context.send(new Uint8Array(Math.min(left, 65_536)).fill(left & 255))
  }
  return {
    status: context.signal.aborted ? ('cancelled' as const) : ('exited' as const),
    durationMs: 1,
    output: { head: word === 'echo' ? argument : '', tail: '', omittedBytes: 0, totalBytes: 0, totalLines: 0 },
    cwd: `${context.link.env.HOME ?? ''}`,
    notices: [],
  }
}
