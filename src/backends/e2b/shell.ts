/** A list of arguments as a command for a POSIX shell. */
export function shellCommand(argv: readonly string[]): string {
  return argv.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
}
