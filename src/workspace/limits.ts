/** Bounds of what a workspace shows, runs and keeps. Times in ms, sizes in bytes unless named otherwise. */
export interface WorkspaceLimits {
  /** Default and largest `timeout` of a foreground command. */
  commandTimeoutMs: number
  commandMaxTimeoutMs: number
  /** After this a foreground command goes on as a job. */
  softLimitMs: number
  /** Text shown of one command or log, in characters; half from the head, half from the tail. */
  outputChars: number
  /** A result of more characters is moved to a file, with its head and tail in its place; 0: never. */
  offloadChars: number
  /** Base64 of one image or sound that stays in a result; larger ones are moved to `data/`. */
  offloadMediaBytes: number
  /** Nested servers that may run at once; 0: 40, or twice the configured ones. */
  maxNestedServers: number
  /** Cap of one raw log. */
  logMaxBytes: number
  readMaxLines: number
  readMaxBytes: number
  readMaxLineBytes: number
  globMaxFiles: number
  grepMaxEntries: number
  grepMaxLineBytes: number
  searchTimeoutMs: number
  /** How long an owner may be away without a goodbye before its jobs end. */
  graceMs: number
  jobMaxLifeMs: number
  /** A gateway without links, jobs and calls ends after this. */
  gatewayIdleMs: number
  /** A link that can't be made again within this fails its calls. */
  reconnectMs: number
}

export const DEFAULT_LIMITS: WorkspaceLimits = {
  commandTimeoutMs: 120_000,
  commandMaxTimeoutMs: 600_000,
  softLimitMs: 45_000,
  outputChars: 30_000,
  offloadChars: 50_000,
  offloadMediaBytes: 5 * 1024 ** 2,
  maxNestedServers: 0,
  logMaxBytes: 1024 ** 3,
  readMaxLines: 2_000,
  readMaxBytes: 100_000,
  readMaxLineBytes: 2_000,
  globMaxFiles: 200,
  grepMaxEntries: 250,
  grepMaxLineBytes: 500,
  searchTimeoutMs: 30_000,
  graceMs: 900_000,
  jobMaxLifeMs: 86_400_000,
  gatewayIdleMs: 300_000,
  reconnectMs: 60_000,
}
