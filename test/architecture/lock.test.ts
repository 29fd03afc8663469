import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './source-tree.ts'

type Names = Record<string, string>
interface Package {
  dependencies?: Names
  devDependencies?: Names
  optionalDependencies?: Names
  peerDependencies?: Names
}

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
const packages = read('package-lock.json').packages as Record<string, Package>

/** Whether a package at `path` finds `name`, as Node looks for it. */
function finds(path: string, name: string): boolean {
  if (packages[join(path, 'node_modules', name)] !== undefined) return true
  if (path === '') return false
  const above = path.lastIndexOf('/node_modules/')
  return finds(above < 0 ? '' : path.slice(0, above), name)
}

it('has every package that another one names, since `npm ci` refuses it otherwise', () => {
  const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).flatMap(name => (finds(path, name) ? [] : [`${path}: ${name}`])),
  )
  expect(missing).toEqual([])
})

it('was made from this package.json', () => {
  const { dependencies, devDependencies, peerDependencies } = read('package.json') as Package
  expect(packages['']).toMatchObject({ dependencies, devDependencies, peerDependencies })
})
