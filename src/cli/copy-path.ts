/** One side of a copy: a path of this host, or one inside a workspace. */
export interface CopyPath {
  /** Id or name; empty: the default one. Absent: this host. */
  workspace?: string
  path: string
}

/** Reads `PATH` or `WORKSPACE:PATH`. A path of this host with a colon in its first part starts with `./`; `C:\x` is one too. */
export function parseCopyPath(text: string): CopyPath {
  const colon = text.indexOf(':')
  const before = text.slice(0, colon)
  const isHost = colon < 0 || /[/\\]/.test(before) || before.startsWith('.') || /^[A-Za-z]:[\\/]/.test(text)
  return isHost ? { path: text } : { workspace: before, path: text.slice(colon + 1) || '.' }
}
