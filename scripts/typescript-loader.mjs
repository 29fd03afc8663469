// Lets Node 20 run .ts files as they are, for programs of the tests.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const path = fileURLToPath(url)
  const options = { loader: 'ts', format: 'esm', target: 'node20', sourcefile: path, sourcemap: 'inline' }
  const { code } = transformSync(readFileSync(path, 'utf8'), options)
  return { format: 'module', source: code, shortCircuit: true }
}
