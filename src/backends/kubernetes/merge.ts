type Value = unknown
type Fields = Record<string, Value>

/**
 * `base` with `patch` over it, neither of them changed: objects field by field, `null` takes a field out, lists whose entries have
 * names entry by entry, other lists as a whole.
 */
export function merge<T extends object>(base: T, patch: object): T {
  const merged: Fields = { ...(base as Fields) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) delete merged[key]
    else merged[key] = mergeValue(merged[key], value)
  }
  return merged as T
}

function mergeValue(base: Value, patch: Value): Value {
  if (isFields(base) && isFields(patch)) return merge(base, patch)
  if (isFields(patch)) return merge({}, patch)
  if (Array.isArray(base) && isNamed(base) && isNamed(patch)) return mergeNamed(base as Fields[], patch as Fields[])
  return patch
}

function mergeNamed(base: readonly Fields[], patch: readonly Fields[]): Fields[] {
  const changed = base.map(entry => {
    const change = patch.find(({ name }) => name === entry.name)
    return change === undefined ? entry : merge(entry, change)
  })
  return [...changed, ...patch.filter(({ name }) => !base.some(entry => entry.name === name))]
}

function isNamed(value: Value): boolean {
  return Array.isArray(value) && value.every(entry => isFields(entry) && typeof entry.name === 'string')
}

function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
