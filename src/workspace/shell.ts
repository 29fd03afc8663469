import { formatMs } from '../lib/deadline.ts'
import type { GatewayCalls } from './environment-link.ts'
import type { WorkspaceLimits } from './limits.ts'
import type { RunOptions, Shell } from './ports.ts'
import { Terminals } from './terminal/terminals.ts'

type RunRequest = Parameters<Shell['run']>[0]

/** Runs and follows commands through a gateway, within the workspace's limits. */
export function createShell(gateway: GatewayCalls, limits: WorkspaceLimits): Shell {
  const shown = { headBytes: Math.ceil(limits.outputChars / 2), tailBytes: Math.floor(limits.outputChars / 2) }
  const terminals = new Terminals(gateway)
  return {
    async run(params, options = {}) {
      const stream = streamText(options)
      const { request, notices } = withinLimits(params, limits)
      const result = await gateway.call(
        'command.run',
        { ...shown, ...request, ...(stream === undefined ? {} : { stream: true }) },
        { signal: options.signal, onChunk: stream?.push },
      )
      stream?.end()
      const view = await terminals.first({ ...params, ...result }, options)
      const said = [...notices, ...result.notices, ...view.notices]
      return said.length === result.notices.length && !view.terminal ? result : { ...result, ...view, notices: said }
    },
    async jobs(options = {}) {
      return (await gateway.call('job.list', {}, options)).jobs
    },
    async readJob(params, options = {}) {
      const waitMs = Math.min(params.waitMs ?? 0, limits.softLimitMs)
      const result = await gateway.call('job.read', { ...shown, ...params, waitMs }, options)
      if (params.offset !== undefined || params.filter !== undefined) return result
      if (result.job.input !== 'pty') return result
      const view = await terminals.look(result.job, options)
      const full = result.output.logTruncatedAt === undefined ? [] : ['The log is full: this is how the screen was then.']
      return { ...result, ...view, notices: [...result.notices, ...view.notices, ...full] }
    },
    async inputJob(params, options = {}) {
      const { bytes, job } = await terminals.send(params, options)
      return job === undefined ? { bytes } : { bytes, ...(await terminals.look(job, options)) }
    },
    killJob: (params, options = {}) => gateway.call('job.kill', params, options),
  }
}

/** A background command has the time it asks for; any other one has the default, the maximum at most, and the soft limit. */
function withinLimits(params: RunRequest, limits: WorkspaceLimits): { request: RunRequest; notices: string[] } {
  if (params.background) return { request: params, notices: [] }
  const byDefault = params.timeoutMs === undefined ? { timeoutIsDefault: true } : {}
  const asked = params.timeoutMs ?? limits.commandTimeoutMs
  const timeoutMs = Math.min(asked, limits.commandMaxTimeoutMs)
  const notices =
    asked > timeoutMs
      ? [
          `The timeout of ${formatMs(asked)} is over the limit of ${formatMs(timeoutMs)}, which was used; run_in_background has no limit.`,
        ]
      : []
  return { request: { softLimitMs: limits.softLimitMs, ...byDefault, ...params, timeoutMs }, notices }
}

/** Chunks of bytes as text with whole code points; `undefined` when nobody listens. */
function streamText(options: RunOptions): { push(chunk: Uint8Array): void; end(): void } | undefined {
  const { onOutput } = options
  if (onOutput === undefined) return undefined
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const give = (text: string): void => {
    if (text !== '') onOutput(text)
  }
  return { push: chunk => give(decoder.decode(chunk, { stream: true })), end: () => give(decoder.decode()) }
}
