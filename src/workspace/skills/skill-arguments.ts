/** A skill's body with what the caller gave in place of `$ARGUMENTS`; where it has no such place, at the end. */
export function withArguments(body: string, args: string): string {
  const given = args.trim()
  if (/\$ARGUMENTS\b/.test(body)) return body.replace(/\$ARGUMENTS\b/g, () => given)
  return given === '' ? body : `${body.trimEnd()}\n\nArguments: ${given}\n`
}
