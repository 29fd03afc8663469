import { type SettingKey, settingOf } from './settings.ts'

/** A value as it may be shown, in a dump or an error: without secrets. */
export function shownValue(key: SettingKey, value: unknown): unknown {
  if (value === undefined) return undefined
  if (settingOf(key).secret) return '(secret)'
  return key === 'env' ? hideAll(value) : redact(value)
}

/** Names under which structures keep what must not be shown. */
const SENSITIVE = /token|secret|password|passwd|api_?key|authorization|credential/i

/** User and password in an address. */
const LOGIN = /(:\/\/)[^/@\s]+@/g

/** A copy in which the values of sensitive names, and of every `env` and `headers`, are hidden. */
function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value === 'string') return value.replace(LOGIN, '$1(secret)@')
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === 'env' || name === 'headers') return [name, hideAll(inner)]
      return [name, SENSITIVE.test(name) ? '(secret)' : redact(inner)]
    }),
  )
}

function hideAll(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return '(secret)'
  return Object.fromEntries(Object.keys(value).map(name => [name, '(secret)']))
}
