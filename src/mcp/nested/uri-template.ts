/** The scheme of a URI with its colon, in lower case; `''` without one. */
export function schemeOf(uri: string): string {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(uri)?.[0].toLowerCase() ?? ''
}

/** Whether a URI has a scheme of Atelier's own, which no nested server can take. */
export function isOwnScheme(uri: string): boolean {
  return OWN_SCHEMES.includes(schemeOf(uri))
}

const OWN_SCHEMES = ['workspace:', 'skill:']

/**
 * How well a URI fits a template: the characters of its fixed text, or `undefined` where it does not fit. An expression stands for
 * any text. Templates come from nested servers, so this takes linear time whatever they are.
 */
export function templateFit(template: string, uri: string): number | undefined {
  const fixed = template.split(/\{[^{}]*\}/)
  const [first = '', ...rest] = fixed
  const last = rest.pop()
  if (last === undefined || !uri.startsWith(first)) return undefined
  let at = first.length
  for (const part of rest) {
    const found = uri.indexOf(part, at)
    if (found === -1) return undefined
    at = found + part.length
  }
  if (!uri.endsWith(last) || uri.length - last.length < at) return undefined
  return fixed.join('').length
}
