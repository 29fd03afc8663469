import type { Workspace } from '../workspace/workspace.ts'

/** One id in this process: being built, open, or being closed. */
export interface OpenEntry {
  readonly id: string
  readonly building: Promise<Workspace>
  /** Who waits for it, and wants to hear how that goes. */
  readonly listeners: Set<(sentence: string) => void>
  workspace?: Workspace
  leases: number
  openedAt: number
  usedAt: number
  closing?: Promise<unknown>
}
