import { z } from 'zod'

/** A kind of value: how it is read, and what is allowed, in words. */
export interface ValueKind<T> {
  readonly schema: z.ZodType<T>
  readonly allowed: string
  /** All that is allowed, where that is a closed list. */
  readonly names?: readonly string[]
  /** How a text from a flag or the environment becomes the value that the schema reads; absent: as it is. */
  readonly fromText?: (text: string) => unknown
  /** Shape of the command-line flag: with a value, several, none, or no flag at all. */
  readonly flag: 'value' | 'list' | 'boolean' | 'none'
}

const DURATION_UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 }
const SIZE_UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  k: 1024,
  kb: 1000,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1e6,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1e9,
  gib: 1024 ** 3,
}

/** Reads a number with an optional unit; undefined when it is none. */
function withUnit(value: string | number, units: Record<string, number>): number | undefined {
  if (typeof value === 'number') return value
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(value)
  const unit = units[match?.[2]?.toLowerCase() ?? '?']
  return match?.[1] === undefined || unit === undefined ? undefined : Math.round(Number(match[1]) * unit)
}

function measured(units: Record<string, number>, range: { min: number; allowed: string }): ValueKind<number> {
  const schema = z.union([z.string(), z.number()]).transform((value, context) => {
    const number = withUnit(value, units)
    if (number !== undefined && Number.isSafeInteger(number) && number >= range.min) return number
    context.addIssue({ code: 'custom', message: range.allowed })
    return z.NEVER
  })
  return { schema, allowed: range.allowed, flag: 'value' }
}

/** A time in ms: a number, or one with a unit, such as "30s" or "15m". */
export const duration = (min = 1): ValueKind<number> =>
  measured(
    { '': 1, ...DURATION_UNITS },
    { min, allowed: `a time of at least ${min} ms: a number of ms, or one with ms, s, m, h or d` },
  )

/** A size in bytes: a number, or one with a unit, such as "64MiB". */
export const size = (min = 1): ValueKind<number> =>
  measured(SIZE_UNITS, {
    min,
    allowed: `a size of at least ${min} bytes: a number of bytes, or one with KiB, MiB, GiB, kB, MB or GB`,
  })

/** A whole number in a range. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  const allowed = max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min} on` : `a whole number from ${min} to ${max}`
  const fromText = (text: string): unknown => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : text)
  return { schema: z.int().min(min).max(max), allowed, fromText, flag: 'value' }
}

/** One of a closed list. */
export const oneOf = <const T extends readonly [string, ...string[]]>(names: T): ValueKind<T[number]> => ({
  schema: z.enum(names),
  allowed: `one of ${names.join(', ')}`,
  names,
  flag: 'value',
})

/** A text that is not empty. */
export const text = (allowed = 'a text that is not empty'): ValueKind<string> => ({
  schema: z.string().min(1),
  allowed,
  flag: 'value',
})

/** A text of a certain form; may be empty where the pattern says so. */
export const matching = (pattern: RegExp, allowed: string): ValueKind<string> => ({
  schema: z.string().regex(pattern),
  allowed,
  flag: 'value',
})

/** Yes or no. */
export const flag = (): ValueKind<boolean> => ({
  schema: z.boolean(),
  allowed: 'true or false (in the environment also 1, 0, yes, no, on, off)',
  fromText: value => (/^(1|true|yes|on)$/i.test(value) ? true : /^(0|false|no|off)$/i.test(value) ? false : value),
  flag: 'boolean',
})

/** Several texts; in flags and the environment with commas between, or as a JSON array. */
export const list = (allowed = 'a list of texts'): ValueKind<string[]> => ({
  schema: z.array(z.string().min(1)),
  allowed,
  fromText: value =>
    value.trimStart().startsWith('[')
      ? fromJson(value)
      : value
          .split(',')
          .map(part => part.trim())
          .filter(Boolean),
  flag: 'list',
})

/** A structure; in the environment as JSON, and without a flag. */
export const structure = <T>(schema: z.ZodType<T>, allowed: string): ValueKind<T> => ({
  schema,
  allowed,
  fromText: fromJson,
  flag: 'none',
})

function fromJson(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
