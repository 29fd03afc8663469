/** What an archive expands to, in order: a file begins, then its bytes. */
export type Expanded = { path: string; mode: number } | { data: Uint8Array }
