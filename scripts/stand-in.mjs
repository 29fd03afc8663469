#!/usr/bin/env node
// `npm run stand-in NAME [-- FLAGS]`: starts test/stand-ins/NAME/main.ts.
import { existsSync, readdirSync } from 'node:fs'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'

const [name = ''] = process.argv.slice(2)
const folder = new URL('../test/stand-ins/', import.meta.url)
const main = new URL(`${name}/main.ts`, folder)
if (/^[\w-]+$/.test(name) && existsSync(main)) {
  register('./typescript-loader.mjs', import.meta.url)
  await import(main.href)
} else {
  const names = readdirSync(folder).filter(each => each !== 'shared' && existsSync(new URL(`${each}/main.ts`, folder)))
  process.stderr.write(`usage: npm run stand-in ${names.join('|')} -- --help   (${fileURLToPath(folder)})\n`)
  process.exitCode = 2
}
