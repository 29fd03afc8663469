import { createHash } from 'node:crypto'

/** What a label's value may be. */
const LABEL = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/
/** What stands for a value that can't be a label begins so; one that does by itself is replaced as well. */
const REPLACED = 'sha256.'
const SLUG_LENGTH = 40
const HASH_LENGTH = 12

/** Name of a workspace's Pod and volume claim: a legal host name, and never the same for two ids. */
export function resourceName(id: string): string {
  const slug = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replaceAll(/^-+|-+$/g, '')
  return ['atelier', slug, hash(id, HASH_LENGTH)].filter(part => part !== '').join('-')
}

/** A label's value for any text: the text where it is legal, else its hash. The whole text stands in an annotation. */
export function labelValue(text: string): string {
  return LABEL.test(text) && !text.startsWith(REPLACED) ? text : `${REPLACED}${hash(text, 40)}`
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
