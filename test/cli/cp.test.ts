import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseCopyPath } from '../../src/cli/copy-path.ts'
import { ProgressLine } from '../../src/cli/progress-line.ts'
import { BACKENDS } from '../support/backends.ts'
import { startAtelier } from '../support/server.ts'
import { createWorld, type World } from '../support/world.ts'

describe('paths of a copy', () => {
  it.each([
    ['a/b', { path: 'a/b' }],
    ['./a:b', { path: './a:b' }],
    ['/x/a:b', { path: '/x/a:b' }],
    ['C:\\x', { path: 'C:\\x' }],
    ['box:/etc/x', { workspace: 'box', path: '/etc/x' }],
    [':x', { workspace: '', path: 'x' }],
    ['box:', { workspace: 'box', path: '.' }],
  ])('%s', (text, expected) => {
    expect(parseCopyPath(text)).toEqual(expected)
  })
})

describe('progress', () => {
  const shown = (isTTY: boolean) => {
    let text = ''
    const line = new ProgressLine({ isTTY, write: more => (text += more) })
    line.file('a.bin', 4 * 1024 ** 2)
    line.add(2 * 1024 ** 2)
    line.end()
    return text
  }

  it('is a bar on a terminal, and nothing elsewhere', () => {
    expect(shown(true)).toMatch(/\[#{12}\.{12}\] 2\.0 MiB a\.bin.*\r\u001b\[K$/s)
    expect(shown(false)).toBe('')
  })
})

for (const [name, backend] of Object.entries(BACKENDS)) {
  const reason = backend.unavailable()
  describe.skipIf(reason !== undefined)(`atelier cp on ${name}${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
    let world: World
    beforeEach(() => {
      world = createWorld()
      Object.assign(world.env, backend.env(world))
      world.onDispose(() => backend.clear(world))
    })
    afterEach(() => world.dispose())

    const cp = async (...args: string[]) => {
      const program = startAtelier(world, { args: ['cp', ...args] })
      const { code } = await program.ended
      return { code, stdout: program.stdout(), stderr: program.stderr() }
    }
    const sum = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

    it('takes trees and large files there and back, byte for byte, with their modes', async () => {
      const tree = join(world.project, 'tree')
      mkdirSync(join(tree, 'sub/empty'), { recursive: true })
      writeFileSync(join(tree, 'large.bin'), randomBytes(9 * 1024 ** 2))
      writeFileSync(join(tree, 'sub/größe 1.sh'), '#!/bin/sh\n')
      chmodSync(join(tree, 'sub/größe 1.sh'), 0o750)
      writeFileSync(join(tree, 'nothing'), '')
      symlinkSync('nothing', join(tree, 'link'))
      const into = await cp('tree', ':given')
      expect(into, into.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('Copied 3 files') })
      expect(into.stdout).toContain(join(tree, 'link'))
      expect(into.stderr).not.toContain('\r')
      expect(await cp(':given', 'back')).toMatchObject({ code: 0 })
      const back = join(world.project, 'back')
      expect(readdirSync(back, { recursive: true }).sort()).toEqual([
        'large.bin',
        'nothing',
        'sub',
        'sub/empty',
        'sub/größe 1.sh',
      ])
      expect(sum(join(back, 'large.bin'))).toBe(sum(join(tree, 'large.bin')))
      expect(statSync(join(back, 'sub/größe 1.sh')).mode & 0o777).toBe(0o750)
      mkdirSync(join(world.project, 'into'))
      expect(await cp(':given/large.bin', 'into')).toMatchObject({ code: 0 })
      expect(readdirSync(join(world.project, 'into'))).toEqual(['large.bin'])
    }, 120_000)

    it('says what is wrong and leaves nothing half-way', async () => {
      expect(await cp('a', 'b')).toMatchObject({ code: 2, stderr: expect.stringContaining('WORKSPACE:PATH') })
      expect(await cp('nowhere', ':x')).toMatchObject({ code: 1, stderr: expect.stringContaining('nowhere') })
      expect(await cp(':nowhere', 'x')).toMatchObject({ code: 1, stderr: expect.stringContaining('nowhere') })
      expect(await cp('nobodys:file', 'x')).toMatchObject({ code: 1, stderr: expect.stringContaining('"nobodys"') })
      expect(existsSync(join(world.project, 'x'))).toBe(false)
      expect(readdirSync(world.project)).toEqual([])
    }, 120_000)
  })
}
