/** Watching files: parameters, results and news of `watch.*`. */
import type { PathParams, StatResult } from './protocol-files.ts'

export interface WatchParams extends PathParams {
  /** The host's name for it, unique in its link. */
  watch: string
}
export interface WatchResult {
  path: string
  type: StatResult['type']
  /** `events`: a change is told as it happens; `polling`: it is looked for again and again. */
  mode: 'events' | 'polling'
  /** Why it is polled. */
  notices: string[]
}
/** What is at the path is not what it was: content, metadata, or entries of a directory; it came or went. */
export interface WatchChangedNews {
  watch: string
}
/** Changes were told as they happen; from now on they are looked for. */
export interface WatchPolledNews {
  watch: string
  /** Says so, and why. */
  notice: string
}
