import { environmentName, flagName, SETTING_KEYS, type SettingKey, type Settings, settingOf } from './settings.ts'
import { shownValue } from './shown-value.ts'

/** One row of the reference: a setting, its three names, what is allowed, its default. */
export interface ReferenceRow {
  key: string
  environment: string
  /** Absent for structures, which have no flag. */
  flag?: string
  group: string
  allowed: string
  fallback: string
  doc: string
}

/** All settings, for docs, help and examples. */
export function configReference(): ReferenceRow[] {
  return SETTING_KEYS.map(key => {
    const { flag, group, allowed, fallback, doc } = settingOf(key)
    const row = {
      key,
      environment: environmentName(key),
      group,
      allowed,
      fallback: fallback === undefined ? '' : JSON.stringify(fallback),
      doc,
    }
    return flag === 'none' ? row : { ...row, flag: flagName(key) }
  })
}

/** The configuration in force, a line a setting, with sources; secrets are not shown. */
export function describeConfig(
  config: Settings & { sources: ReadonlyMap<SettingKey, string> },
): { key: string; value: unknown; source: string }[] {
  return SETTING_KEYS.map(key => {
    return { key, value: shownValue(key, config[key]), source: config.sources.get(key) ?? 'default' }
  })
}
