import { isUtf8 } from 'node:buffer'

/** A part of a line that is certain to hold what is shown of it. */
export interface LinePiece {
  bytes: Buffer
  /** Byte offset of the piece in its line, and the length of the whole line. */
  start: number
  length: number
  /** Byte offset of the first match in the line. */
  column: number
}

/** The first and last byte offset (exclusive) that `showLine` can need of a line, whatever its length. */
export function neededWindow(column: number, maxBytes: number): { from: number; to: number } {
  return { from: Math.max(0, column - maxBytes), to: column + 2 * maxBytes }
}

/** The line as text: whole when it is short enough, else the part around the match, cut at code points, with `…` where it was cut. */
export function showLine(piece: LinePiece, maxBytes: number): string {
  const { bytes, start, length, column } = piece
  if (length <= maxBytes) return decodeLine(bytes)
  const from = Math.max(0, Math.min(column - (maxBytes >> 2), length - maxBytes))
  const part = alignToCodePoints(bytes, from - start, from + maxBytes - start)
  return `${from > 0 ? '…' : ''}${decodeLine(part)}${from + maxBytes < length ? '…' : ''}`
}

function alignToCodePoints(bytes: Buffer, from: number, to: number): Buffer {
  let begin = Math.max(0, from)
  let end = Math.min(bytes.length, to)
  for (let i = 0; i < 3 && begin < end && isContinuation(bytes[begin]!); i++) begin++
  for (let i = 0; i < 3 && end > begin && end < bytes.length && isContinuation(bytes[end]!); i++) end--
  return bytes.subarray(begin, end)
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** Bytes as UTF-8, or as latin1 where they are none. */
export function decodeLine(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}
