import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeFolders, makeFoldersSync } from '../../src/lib/make-folders.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atelier-folders-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const WAYS = [
  { name: 'makeFolders', make: makeFolders },
  { name: 'makeFoldersSync', make: async (...args: Parameters<typeof makeFoldersSync>) => makeFoldersSync(...args) },
]

it.each(WAYS)('$name makes parents, and takes what is there', async ({ name, make }) => {
  const path = join(directory, name, 'a', 'b')
  for (let round = 0; round < 2; round++) await make(path, { mode: 0o700 })
  expect((await stat(path)).mode & 0o777).toBe(0o700)
  await writeFile(join(path, 'file'), '')
  await expect(make(join(path, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
})

it.runIf(process.platform === 'linux').each(WAYS)(
  '$name fails in a directory that is in use and removed',
  async ({ name, make }) => {
    const path = join(directory, `${name}-gone`)
    await mkdir(path)
    const child = spawn('sleep', ['60'], { cwd: path, stdio: 'ignore' })
    try {
      await once(child, 'spawn')
      await rmdir(path)
      await expect(make(`/proc/${child.pid}/cwd/a/b`)).rejects.toMatchObject({ code: 'ENOENT' })
    } finally {
      child.kill()
    }
  },
)

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
