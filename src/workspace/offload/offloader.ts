import type { PortOptions } from '../ports.ts'

/** Where something was put, and what it looks like. */
export interface Offloaded {
  /** Absolute, inside the environment. */
  path: string
  /** `workspace:///…`, for `resources/read`. */
  uri: string
  /** Bytes that were offloaded now. */
  size: number
  /** Beginning and end, as text. */
  preview: string
}

export interface OffloadedContext extends Offloaded {
  messages: number
  /** Byte of the file at which these messages begin, where it is certain. */
  offset?: number
  /** Data blocks that lie in `data/` now, each once. */
  blobs: { path: string; uri: string; size: number; mediaType: string }[]
}

export interface OffloadedBlock {
  /** The block with a reference in place of its data; one that had no data is given back as it is. */
  block: unknown
  preview: string
  /** Absent where the block held no data of its own. */
  blob?: { path: string; uri: string; size: number; mediaType: string }
}

/** The place for context that has grown too large. Messages, results and blocks of every shape that the docs name are taken. */
export interface Offloader {
  /** Appends messages to `sessions/<session>/context.jsonl`, in one write; their data goes to `data/` first. */
  offloadContext(session: string, messages: readonly unknown[], options?: PortOptions): Promise<OffloadedContext>
  /** Keeps a result as `sessions/<session>/tool_result-<id>.txt`; a taken name gets `(1)`, `(2)`, … */
  offloadToolResult(session: string, result: unknown, options?: PortOptions): Promise<Offloaded>
  /** Keeps a block's data as `data/<hash>.<extension>`, once however its base64 is wrapped. */
  offloadDataBlock(block: unknown, options?: PortOptions): Promise<OffloadedBlock>
}

/** One offloaded file. */
export interface OffloadEntry {
  session: string
  kind: 'context' | 'tool_result'
  path: string
  uri: string
  size: number
  /** ms since the epoch. */
  mtimeMs: number
}

export interface SweepOptions extends PortOptions {
  /** Younger blobs stay, since a conversation may still hold their reference; default: a day. */
  olderThanMs?: number
}

/** An offloader with what keeps its files in order. */
export interface Offload extends Offloader {
  /** What lies in `sessions/`, of one session or all, by path. */
  list(session?: string, options?: PortOptions): Promise<OffloadEntry[]>
  /** Removes a session's folder; whether there was one. */
  purgeSession(session: string, options?: PortOptions): Promise<boolean>
  /** Removes blobs of `data/` that no session and no file of the workdir refers to. */
  sweep(options?: SweepOptions): Promise<{ removed: string[]; bytes: number }>
}
