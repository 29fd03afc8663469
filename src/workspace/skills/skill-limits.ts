/** Bounds of one skill that is brought in. */
export const SKILL_LIMITS = {
  maxFiles: 5_000,
  /** Bytes of a folder, and what an archive may expand to unless the caller says otherwise. */
  maxBytes: 500 * 1024 ** 2,
  maxArchiveBytes: 64 * 1024 ** 2,
} as const
