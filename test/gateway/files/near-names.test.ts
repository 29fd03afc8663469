import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { missing } from '../../../src/gateway/files/near-names.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-near-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('names what is there where it is little, else counts it', async () => {
  expect((await missing(join(folder, 'zzz.js'))).hint).toBe(`${folder} is empty.`)
  mkdirSync(join(folder, 'web'))
  mkdirSync(join(folder, 'app'))
  expect((await missing(join(folder, 'zzz.js'))).hint).toBe(`${folder} has: app, web.`)
  for (let at = 0; at < 20; at += 1) mkdirSync(join(folder, `part-${at}`))
  expect((await missing(join(folder, 'zzz.js'))).hint).toBe(`Look for it with Glob; ${folder} has 22 entries.`)
})

it('names what is near, or the part of the path that is missing', async () => {
  writeFileSync(join(folder, 'sum.js'), '')
  expect((await missing(join(folder, 'Sum.js'))).hint).toBe(`Did you mean ${join(folder, 'sum.js')}?`)
  const { message, hint } = await missing(join(folder, 'a/b.js'))
  expect(message).toContain(`there is no directory ${join(folder, 'a')}`)
  expect(hint).toContain(`The nearest directory that exists is ${folder}.`)
})
