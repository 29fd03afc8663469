import { z } from 'zod'

/** A boolean; the words `true` and `false` are taken as well, since models send them. */
export function flag(description: string) {
  return z
    .preprocess(value => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
    .optional()
    .describe(description)
}

/** A whole number from `min`; its decimal form in a string is taken as well. */
export function integer(min: number | undefined, description: string) {
  const number = min === undefined ? z.int() : z.int().min(min)
  return z
    .preprocess(value => (typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : value), number)
    .optional()
    .describe(description)
}

/** Required text. */
export function text(description: string) {
  return z.string().min(1).describe(description)
}

/** Optional text; an empty one counts as not given. */
export function optionalText(description: string) {
  return z
    .preprocess(value => (value === '' ? undefined : value), z.string().optional())
    .optional()
    .describe(description)
}

/** Required list of objects; its JSON in a text is taken as well, since models send it. */
export function objects(description: string) {
  return z.preprocess(fromJson, z.array(z.record(z.string(), z.unknown()))).describe(description)
}

/** Optional list of texts; its JSON in a text is taken as well. */
export function texts(description: string) {
  return z.preprocess(fromJson, z.array(z.string())).optional().describe(description)
}

/** Optional object of texts; its JSON in a text is taken as well. */
export function textMap(description: string) {
  return z.preprocess(fromJson, z.record(z.string(), z.string())).optional().describe(description)
}

/** Optional object of anything; its JSON in a text is taken as well. */
export function anyMap(description: string) {
  return z.preprocess(fromJson, z.record(z.string(), z.unknown())).optional().describe(description)
}

/** Required value of any kind. */
export function anyValue(description: string) {
  return z.union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())]).describe(description)
}

function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
