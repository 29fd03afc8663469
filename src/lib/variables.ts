/** `${NAME}` and `${NAME:-default}`. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Names of all variables in a text. */
export function namedVariables(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(match => match[1] as string)
}

/** A text with its variables filled in; an unset or empty one gives its default. `missing` is told each that has neither. */
export function fillIn(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
  missing: (name: string) => void,
): string {
  return text.replace(REFERENCE, (_whole, name: string, fallback: string | undefined) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
    if (value === undefined) missing(name)
    return value ?? ''
  })
}
