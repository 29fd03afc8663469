export const ROOT: string
export function nodeComplaint(version?: string): string | undefined
export function ensureInstalled(log?: (text: string) => void): void
export function sourceHash(): string
export function ensureBuilt(log?: (text: string) => void): Promise<void>
