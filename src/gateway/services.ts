import type { Logger } from '../lib/log.ts'
import type { Handlers, LinkPort, Notify } from './dispatch.ts'
import type { LifeWork } from './life.ts'

/** What the daemon gives its services. */
export interface ServicesOptions {
  /** Private runtime directory. */
  dir: string
  workdir: string
  root: string
  confine?: string | undefined
  logMaxBytes: number
  jobMaxLifeMs: number
  instance: string
  log: Logger
  notify: Notify
  /** Links that are attached or may come back. */
  links(): number
  /** One of them. */
  link(id: string): LinkPort | undefined
}

/** All the work of a gateway. */
export interface Services {
  handlers: Handlers
  work: LifeWork
  /** Ends what runs, or leaves the jobs to a successor, and lets go of everything. */
  end(jobs: 'end' | 'leave'): Promise<void>
}
