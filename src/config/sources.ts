import { readFileSync } from 'node:fs'
import { closest, distance } from 'fastest-levenshtein'
import { environmentName, SETTING_KEYS, SETTINGS, type SettingKey, settingOf } from './settings.ts'

/** A value as it was given, and where: `flag --port`, `ATELIER_PORT`, `port in /x/atelier.config.json`. */
export interface Given {
  value: unknown
  source: string
  /** Directory that relative paths in it count from. */
  base: string
}

/** What was given for each key, strongest source last to be asked; and what is wrong already. */
export interface Gathered {
  given: Map<SettingKey, Given>
  problems: string[]
  warnings: string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Variables with our prefix that are no settings: the path of the file, and the marks of commands in a workspace. */
const OTHER_VARIABLES = new Set(['ATELIER_CONFIG', 'ATELIER_RUN', 'ATELIER_GATEWAY'])

/** The likeliest of some names; undefined when none comes near. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const best = closest(name, names)
  return distance(name.toLowerCase(), best.toLowerCase()) <= Math.max(3, name.length / 2) ? best : undefined
}

const isKey = (name: string): name is SettingKey => Object.hasOwn(SETTINGS, name)
const didYouMean = (name: string, names: readonly string[]): string => {
  const best = nearest(name, names)
  return best === undefined ? '' : ` Did you mean ${best}?`
}

/** Reads a configuration file into `gathered`. A file that was not asked for may be missing. */
export function gatherFile(gathered: Gathered, file: string, options: { base: string; optional: boolean }): boolean {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (options.optional && (error as NodeJS.ErrnoException).code === 'ENOENT') return false
    gathered.problems.push(`The configuration file ${file} can't be read: ${(error as Error).message}`)
    return false
  }
  let content: unknown
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    gathered.problems.push(`The configuration file ${file} is no JSON: ${(error as Error).message}`)
    return false
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    gathered.problems.push(`The configuration file ${file} must hold one JSON object.`)
    return false
  }
  for (const [name, value] of Object.entries(content)) {
    if (name === '$schema') continue
    if (isKey(name)) gathered.given.set(name, { value, source: `${name} in ${file}`, base: options.base })
    else gathered.problems.push(`Unknown key "${name}" in ${file}.${didYouMean(name, SETTING_KEYS)}`)
  }
  return true
}

/** Takes `ATELIER_*` variables into `gathered`; unknown ones are warned of. An empty variable counts as unset. */
export function gatherEnvironment(gathered: Gathered, env: Environment, base: string): void {
  const names = new Map(SETTING_KEYS.map(key => [environmentName(key), key]))
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('ATELIER_') || text === undefined || text === '') continue
    const key = names.get(name)
    if (key !== undefined) gathered.given.set(key, { value: fromText(key, text), source: name, base })
    else if (!OTHER_VARIABLES.has(name)) {
      gathered.warnings.push(`Unknown environment variable ${name}.${didYouMean(name, [...names.keys()])}`)
    }
  }
}

/** Takes flags, by key, into `gathered`. */
export function gatherFlags(
  gathered: Gathered,
  flags: Readonly<Record<string, unknown>>,
  options: { base: string; name(key: string): string },
): void {
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined || !isKey(key)) continue
    gathered.given.set(key, { value: fromFlag(key, value), source: `flag ${options.name(key)}`, base: options.base })
  }
}

function fromFlag(key: SettingKey, value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap(one => fromText(key, String(one)))
  return typeof value === 'string' ? fromText(key, value) : value
}

const fromText = (key: SettingKey, text: string): unknown => settingOf(key).fromText?.(text) ?? text
