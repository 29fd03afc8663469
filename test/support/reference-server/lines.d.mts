import type { Readable } from 'node:stream'

export function onLines(stream: Readable, onLine: (line: string) => void, onEnd?: () => void): void
