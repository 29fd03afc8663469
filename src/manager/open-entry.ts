import type { Workspace } from '../workspace/workspace.ts'

/** One id in this process: being built, open, or being closed. */
export interface OpenEntry {
  readonly id: string
  readonly building: Promise<Workspace>
  workspace?: Workspace
  leases: number
  openedAt: number
  usedAt: number
  closing?: Promise<unknown>
}
