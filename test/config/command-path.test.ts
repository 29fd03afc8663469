import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { commandPath } from '../../src/config/command-path.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-path-')))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function program(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, 0o755)
  return path
}

it('leaves a PATH alone that has a ripgrep', async () => {
  program(join(dir, 'bin', 'rg'))
  const path = ['/nowhere', join(dir, 'bin')].join(delimiter)
  expect(await commandPath(path, { dataDir: dir })).toBe(path)
})

it('puts the configured one first, and nothing else with it', async () => {
  const ripgrep = program(join(dir, 'tools', 'ripgrep-15'))
  const [first = '', ...rest] = (await commandPath('/a:/b', { ripgrep, dataDir: join(dir, 'data') })).split(delimiter)
  expect(rest).toEqual(['/a', '/b'])
  expect(realpathSync(join(first, 'rg'))).toBe(ripgrep)
  expect(await commandPath('/a:/b', { ripgrep, dataDir: join(dir, 'data') })).toBe([first, '/a', '/b'].join(delimiter))
})

it('refuses one that is no program', async () => {
  symlinkSync('/nowhere', join(dir, 'dangling'))
  await expect(commandPath('/a', { ripgrep: join(dir, 'dangling'), dataDir: dir })).rejects.toMatchObject({
    code: 'invalid_argument',
  })
})

it('adds the packaged one at the end where there is none', async () => {
  const path = await commandPath('/nowhere', { dataDir: dir })
  expect(path.split(delimiter)[0]).toBe('/nowhere')
  if (path !== '/nowhere') expect(realpathSync(join(path.split(delimiter)[1] ?? '', 'rg'))).toContain('ripgrep')
})
