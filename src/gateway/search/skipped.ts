/** Names that are never entered from above; a path inside one of them can be searched. */
export const SKIPPED: readonly string[] = ['.git', '.atelier']
