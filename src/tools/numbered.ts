/** A line with its number in front, as `cat -n` writes it. */
export function numbered(line: number, text: string): string {
  return `${String(line).padStart(6)}\t${text}`
}
