import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { nearest } from '../lib/suggest.ts'
import { SETTING_KEYS, type SettingKey, type Settings, settingOf } from './settings.ts'
import { shownValue } from './shown-value.ts'
import type { Gathered, Given } from './sources.ts'

/** Settings whose value is a path; `list` ones hold several. */
const PATHS: readonly SettingKey[] = ['directory', 'dataDir', 'usersFile', 'skillPaths', 'ripgrep']

/** The one schema of the configuration, from the table of settings. */
export const settingsSchema = z.object(
  Object.fromEntries(
    SETTING_KEYS.map(key => {
      const { schema, fallback } = settingOf(key)
      return [key, fallback === undefined ? schema.optional() : schema.default(fallback as never)]
    }),
  ),
)

/** Checks what was given and fills in the defaults. Every problem is told, each with its key, source, value and what is allowed. */
export function resolveSettings({ given, problems }: Gathered): { settings: Settings } | { problems: string[] } {
  const raw = Object.fromEntries([...given].map(([key, { value }]) => [key, value]))
  const parsed = settingsSchema.safeParse(raw)
  const all = [...problems]
  if (!parsed.success) {
    const keys = new Set(parsed.error.issues.map(issue => issue.path[0] as SettingKey))
    for (const key of keys) all.push(problemOf(key, given.get(key), parsed.error.issues))
  }
  if (all.length > 0 || !parsed.success) return { problems: all }
  const settings: Record<string, unknown> = { ...parsed.data }
  for (const key of PATHS) {
    const base = given.get(key)?.base
    if (base !== undefined) settings[key] = absolute(settings[key], base)
  }
  return { settings: settings as unknown as Settings }
}

function problemOf(key: SettingKey, given: Given | undefined, issues: readonly z.core.$ZodIssue[]): string {
  const { allowed, names = [], secret } = settingOf(key)
  const inner = issues
    .filter(issue => issue.path[0] === key && issue.path.length > 1)
    .map(issue => `${issue.path.join('.')}: ${issue.message}`)
  const value = secret ? 'The value' : shorten(JSON.stringify(shownValue(key, given?.value)) ?? 'undefined')
  const where = inner.length === 0 ? '' : ` (${inner.join('; ')})`
  const meant = typeof given?.value === 'string' ? nearest(given.value, names) : undefined
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  return `${given?.source ?? key}: ${value} is not allowed${where}. Allowed: ${allowed}.${hint}`
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text)

function absolute(value: unknown, base: string): unknown {
  if (Array.isArray(value)) return value.map(one => absolute(one, base))
  if (typeof value !== 'string') return value
  return value === '~' || value.startsWith('~/') ? join(homedir(), value.slice(1)) : resolve(base, value)
}
