import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

declare const __dirname: string | undefined

/** Places where something that the build makes may lie: beside the bundle that runs, or in `dist` when run from source. */
export function builtPlaces(name: string): string[] {
  const here = typeof __dirname === 'string' ? __dirname : dirname(fileURLToPath(import.meta.url))
  return [here, join(here, '../dist'), join(here, '../../dist')].map(place => join(place, name))
}

/** The first of those places where it is. */
export function builtPath(name: string): string | undefined {
  return builtPlaces(name).find(existsSync)
}
