import { join } from 'node:path'
import { type CommandService, createCommandService } from './commands/command-service.ts'
import type { Handlers } from './dispatch.ts'
import { createFileService } from './files/file-service.ts'
import { createNestedService, type NestedService } from './nested/nested-service.ts'
import { createSearchService } from './search/search-service.ts'
import type { Services, ServicesOptions } from './services.ts'
import { VERSION } from './version.ts'
import { createWatchService, type WatchService } from './watch/watch-service.ts'

const SEARCH_LIMIT_MS = 60_000

/** Makes the services of a gateway and puts their handlers together with the gateway's own. */
export function createServices(options: ServicesOptions): Services {
  const { dir, workdir, root, confine, instance, log, notify, jobMaxLifeMs, logMaxBytes } = options
  const jobsDir = join(root, '.atelier', 'jobs')
  const commands = createCommandService({
    runtimeDir: dir,
    jobsDir,
    workdir,
    instance,
    jobMaxLifeMs,
    logMaxBytes,
    notify,
    log: line => log.info({}, line),
  })
  const adopted = commands.adoptJobs().catch(error => log.error({ error: String(error) }, 'earlier jobs were not found'))
  const files = createFileService({ workdir, confine, log })
  const search = createSearchService({ workdir, timeoutMs: SEARCH_LIMIT_MS, log })
  const nested = createNestedService({ workdir, link: options.link, log: log.child({ part: 'nested' }) })
  const watches = createWatchService({ workdir, confine, link: options.link, log })
  const startedAt = new Date().toISOString()
  const own: Pick<Handlers, 'open' | 'ping' | 'info' | 'reset' | 'session.forget'> = {
    async open(_params, { link }) {
      const [ripgrep] = await Promise.all([search.ripgrep(link.env), adopted])
      const [shell, jobs] = [commands.shell(), await commands.jobsOf(link.owner)]
      return { instance, version: VERSION, pid: process.pid, platform: process.platform, workdir, root, shell, ripgrep, jobs }
    },
    ping: async () => ({ now: Date.now() }),
    info: async () => ({
      ...{ instance, pid: process.pid, version: VERSION, startedAt, links: options.links() },
      ...{ jobs: commands.jobs, running: commands.running, nested: nested.count, rssBytes: process.memoryUsage.rss() },
    }),
    async reset() {
      const [jobsEnded] = await Promise.all([commands.reset(), nested.endAll('the workspace was reset')])
      files.reset()
      return { jobsEnded }
    },
    async 'session.forget'({ session }) {
      commands.forgetSession(session)
      files.forgetSession(session)
      return {}
    },
  }
  return {
    handlers: { ...commands.handlers, ...files.handlers, ...search.handlers, ...nested.handlers, ...watches.handlers, ...own },
    work: lifeWork({ commands, nested, watches }),
    async end(jobs) {
      watches.end()
      const ended = nested.endAll('the gateway ends')
      if (jobs === 'end') await commands.endAll('the gateway ends')
      await ended
      await commands.dispose()
    },
  }
}

interface Working {
  commands: CommandService
  nested: NestedService
  watches: WatchService
}

function lifeWork({ commands, nested, watches }: Working): Services['work'] {
  const leaveGone = (): void => {
    nested.leaveGone()
    watches.leaveGone()
  }
  return {
    linkLost(link) {
      commands.linkLost(link)
      leaveGone()
    },
    inherit: (from, to) => commands.inherit(from, to),
    end(whose) {
      leaveGone()
      return commands.endOwner(whose)
    },
    // Idle servers alone keep no daemon: who wants them again starts them again.
    busy: () => commands.running + commands.jobs + nested.inFlight > 0,
  }
}
