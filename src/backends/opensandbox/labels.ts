/** The server takes label values of at most 63 characters, out of few. */
const LEGAL = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
/** In front of and behind what was encoded, so that it begins and ends as it must. */
const FRONT = 'x.'
const BACK = '.x'
const PART = 58

/** A text of any length and kind as metadata under `key`, `key.1`, …; nothing for an empty one. */
export function labelsFor(key: string, text: string): Record<string, string> {
  if (text === '') return {}
  if (LEGAL.test(text) && !text.startsWith(FRONT)) return { [key]: text }
  const code = Buffer.from(text, 'utf8').toString('base64url')
  const labels: Record<string, string> = {}
  for (let at = 0, part = 0; at < code.length; at += PART, part++) {
    labels[part === 0 ? key : `${key}.${part}`] = `${FRONT}${code.slice(at, at + PART)}${BACK}`
  }
  return labels
}

/** The text that stands under `key`; empty when there is none. */
export function textOf(labels: Readonly<Record<string, string>>, key: string): string {
  const first = labels[key] ?? ''
  if (!first.startsWith(FRONT)) return first
  let code = ''
  for (let part = 0; ; part++) {
    const label = part === 0 ? first : labels[`${key}.${part}`]
    if (label === undefined) break
    code += label.slice(FRONT.length, -BACK.length)
  }
  return Buffer.from(code, 'base64url').toString('utf8')
}

/** The one label by which sandboxes with this text are looked for; longer texts may share it. */
export function labelFilter(key: string, text: string): Record<string, string> {
  const first = labelsFor(key, text)[key]
  return first === undefined ? {} : { [key]: first }
}
