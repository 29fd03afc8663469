import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeFolders } from '../../src/lib/make-folders.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atelier-folders-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

it('makes all that is missing, tells the first, and takes what is there', async () => {
  const path = join(directory, 'a', 'b', 'c')
  expect(await makeFolders(path, { mode: 0o700 })).toBe(join(directory, 'a'))
  expect((await stat(path)).mode & 0o777).toBe(0o700)
  expect(await makeFolders(path)).toBeUndefined()
})

it("gives the system's own reason", async () => {
  await writeFile(join(directory, 'file'), '')
  await expect(makeFolders(join(directory, 'file', 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  const nowhere = process.platform === 'linux' ? '/proc/none/x/y' : '/none/x/y'
  await expect(makeFolders(nowhere)).rejects.toMatchObject({ code: expect.stringMatching(/^(ENOENT|EACCES|EROFS)$/) })
})
