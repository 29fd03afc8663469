import { isRecord } from '../../lib/is-record.ts'
import type { KeptLists } from './port.ts'

type Item = Record<string, unknown>
type Check = (value: unknown) => boolean

/** Fields of an item: without one of `needed` it can't be listed; without one of `other` it can. */
interface Shape {
  needed: Record<string, Check>
  other: Record<string, Check>
}

const text: Check = value => typeof value === 'string'
const flag: Check = value => typeof value === 'boolean'
const object: Check = value => typeof value === 'object' && value !== null
const oneOf =
  (...values: unknown[]): Check =>
  value =>
    values.includes(value)
const listOf =
  (each: Check): Check =>
  value =>
    Array.isArray(value) && value.every(each)
const mapOf =
  (each: Check): Check =>
  value =>
    isRecord(value) && Object.values(value).every(each)
const fields =
  (needed: Record<string, Check>, other: Record<string, Check>): Check =>
  value =>
    isRecord(value) && faults(value, needed).length === 0 && faults(value, other, 'given').length === 0

const SCHEMA = fields({ type: oneOf('object') }, { properties: mapOf(object), required: listOf(text) })
const ICONS = listOf(fields({ src: text }, { mimeType: text, sizes: listOf(text), theme: oneOf('light', 'dark') }))
const HINTS = { readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag }
const ABOUT = { title: text, description: text, icons: ICONS, _meta: isRecord }
const ADDRESSED = {
  ...ABOUT,
  mimeType: text,
  annotations: fields(
    {},
    {
      audience: listOf(oneOf('user', 'assistant')),
      priority: value => typeof value === 'number' && value >= 0 && value <= 1,
      lastModified: value => typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(value),
    },
  ),
}

/** What the protocol says of the items of each list. */
const SHAPES: Readonly<Record<keyof KeptLists, Shape>> = {
  tools: {
    needed: { name: text, inputSchema: SCHEMA },
    other: {
      ...ABOUT,
      outputSchema: SCHEMA,
      annotations: fields({}, { title: text, ...HINTS }),
      execution: fields({}, { taskSupport: oneOf('required', 'optional', 'forbidden') }),
    },
  },
  prompts: {
    needed: { name: text },
    other: { ...ABOUT, arguments: listOf(fields({ name: text }, { description: text, required: flag })) },
  },
  resources: { needed: { name: text, uri: text }, other: { ...ADDRESSED, size: value => typeof value === 'number' } },
  resourceTemplates: { needed: { name: text, uriTemplate: text }, other: ADDRESSED },
}

/**
 * The items of a list that the protocol allows, each the same object. A client that checks what it is given would refuse the whole
 * merged list for one that it does not: such an item is left out, or shown without the odd field where that one need not be.
 * `told` hears of each.
 */
export function listable(key: keyof KeptLists, items: readonly unknown[], told: (fault: string) => void): Item[] {
  const { needed, other } = SHAPES[key]
  return items.flatMap((item, index): Item[] => {
    if (!isRecord(item)) return []
    const name = JSON.stringify(item.name ?? item.uri ?? item.uriTemplate ?? index)
    const missing = faults(item, needed)
    if (missing.length > 0) {
      told(`${name} is left out: the protocol does not allow its ${missing.join(', ')}`)
      return []
    }
    const odd = faults(item, other, 'given')
    if (odd.length === 0) return [item]
    told(`${name} is shown without its ${odd.join(', ')}, which the protocol does not allow`)
    return [Object.fromEntries(Object.entries(item).filter(([field]) => !odd.includes(field)))]
  })
}

/** The fields that are not as they should be; `given`: those that are absent may be. */
function faults(item: Item, checks: Record<string, Check>, which: 'all' | 'given' = 'all'): string[] {
  return Object.entries(checks).flatMap(([field, check]) => {
    if (which === 'given' && item[field] === undefined) return []
    return check(item[field]) ? [] : [field]
  })
}
