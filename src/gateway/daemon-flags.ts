/**
 * Options of `node` for the daemon. Each command is a fork of it, which costs by the memory that it has touched: a young generation
 * of a megabyte, used again and again, instead of one that grows to fifty.
 */
export const DAEMON_FLAGS: readonly string[] = ['--max-semi-space-size=1']
