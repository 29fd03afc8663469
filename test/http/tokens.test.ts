import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manageTokens } from '../../src/cli/token-command.ts'
import { tokenAuthenticator, usersFileAuthenticator } from '../../src/http/authenticator.ts'
import { hashToken, newToken, ownToken, readUsers, userOfToken } from '../../src/http/tokens.ts'
import { silentLogger } from '../../src/lib/log.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'atelier-tokens-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

describe("the single user's token", () => {
  it('is made once, however many ask at the same time, and is for its owner only', async () => {
    const data = join(dir, 'data')
    const tokens = await Promise.all(Array.from({ length: 10 }, () => ownToken(data)))
    expect(new Set(tokens).size).toBe(1)
    expect(tokens[0]).toMatch(/^atl_[\w-]{43}$/)
    expect((await stat(join(data, 'token'))).mode & 0o777).toBe(0o600)
    expect(await readdir(data)).toEqual(['token'])
    await chmod(join(data, 'token'), 0o644)
    expect(await ownToken(data)).toBe(tokens[0])
    expect((await stat(join(data, 'token'))).mode & 0o777).toBe(0o600)
  })
})

describe('users', () => {
  it('are known by the hashes of their tokens', () => {
    const [a, b] = [newToken(), newToken()]
    const users = { ann: hashToken(a), bob: hashToken(b), broken: 'zz' }
    expect([userOfToken(a, users), userOfToken(b, users), userOfToken('', users)]).toEqual(['ann', 'bob', undefined])
  })

  it('stand in one object or in one a line', async () => {
    const file = join(dir, 'users.json')
    expect(await readUsers(file)).toEqual({})
    const hash = hashToken('x')
    await writeFile(file, `{"ann":"${hash}"}\n{"bob":"${hash}"}\n`)
    expect(await readUsers(file)).toEqual({ ann: hash, bob: hash })
    for (const broken of ['{"ann":"short"}', '[]', 'nonsense', '{"ann":1}']) {
      await writeFile(file, broken)
      await expect(readUsers(file)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })

  it('come and go by command, the token shown once and kept nowhere', async () => {
    const file = join(dir, 'data', 'users.json')
    const token = (await manageTokens('add', file, 'ann')).trim()
    await manageTokens('add', file, 'bob')
    expect(await manageTokens('list', file)).toBe('ann\nbob\n')
    expect(await readFile(file, 'utf8')).not.toContain(token)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(userOfToken(token, await readUsers(file))).toBe('ann')
    await manageTokens('remove', file, 'ann')
    expect(await manageTokens('list', file)).toBe('bob\n')
    await expect(manageTokens('remove', file, 'ann')).rejects.toMatchObject({ code: 'not_found' })
    await expect(manageTokens('add', file, '../x')).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

describe('authenticators', () => {
  it('read the bearer scheme in any case and nothing else', async () => {
    const { user } = tokenAuthenticator('me', 'secret')
    expect(await user('bearer secret')).toBe('me')
    for (const bad of [undefined, '', 'secret', 'Bearer', 'Bearer secre', 'Bearer secret x', 'Basic secret'])
      expect(await user(bad)).toBeUndefined()
  })

  it('see a changed users file, and keep the last good state of a broken one', async () => {
    const file = join(dir, 'users.json')
    const token = (await manageTokens('add', file, 'ann')).trim()
    const authenticator = await usersFileAuthenticator(file, silentLogger)
    const ask = () => authenticator.user(`Bearer ${token}`)
    const settles = async (expected: string | undefined) => {
      for (let i = 0; i < 100 && (await ask()) !== expected; i++) await new Promise(resolve => setTimeout(resolve, 50))
      return ask()
    }
    expect(await ask()).toBe('ann')
    await writeFile(file, 'broken')
    await new Promise(resolve => setTimeout(resolve, 1_100))
    expect(await ask()).toBe('ann')
    await writeFile(file, '{}')
    expect(await settles(undefined)).toBeUndefined()
  })
})
