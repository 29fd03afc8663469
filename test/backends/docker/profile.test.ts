import { describe, expect, test } from 'vitest'
import { containerOptions, userOf } from '../../../src/backends/docker/container-options.ts'
import { engineError } from '../../../src/backends/docker/errors.ts'
import { createProfiles } from '../../../src/backends/docker/profile.ts'
import { labelFilter, labelsOf, recordOf } from '../../../src/backends/docker/record.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'

const host = { uid: 1000, gid: 100 }
const plain = { rootless: false, userNamespace: false }

describe('profiles', () => {
  test('a call may name the default, the own ones and hardened, and nothing else', () => {
    const profiles = createProfiles({ mine: {} }, 'mine')
    expect(() => profiles.check('mine')).not.toThrow()
    expect(() => profiles.check('hardened')).not.toThrow()
    expect(() => profiles.check('host')).toThrow('not open to calls')
    expect(() => profiles.check('constructor')).toThrow('There is no profile')
    expect(() => createProfiles({}, 'absent')).toThrow('absent')
    expect(createProfiles().fallback).toBe('default')
  })

  test("the host's user is root in a rootless engine, and keeps its number where namespaces would change it", () => {
    expect(userOf({}, plain, host)).toBeUndefined()
    expect(userOf({ user: 'host' }, plain, host)).toBe('1000:100')
    expect(userOf({ user: 'host' }, { rootless: true }, host)).toBe('0:0')
    expect(userOf({ user: 'dev' }, plain, host)).toBe('dev')
    const remapped = containerOptions({
      profile: { user: 'host' },
      engine: { ...plain, userNamespace: true },
      hostUser: host,
      mounts: [],
    })
    expect(remapped.HostConfig?.UsernsMode).toBe('host')
  })

  test('git trusts what another user of the host owns', () => {
    const env = (profile: object, hostUser = host) =>
      containerOptions({ profile, engine: plain, hostUser, mounts: [] }).Env?.join()
    expect(env({})).toContain('safe.directory')
    expect(env({ user: 'host' })).not.toContain('safe.directory')
    expect(env({ user: 'host', env: { HOME: '/mine' } })).toContain('HOME=/mine')
  })
})

test('a record is the same after a way through labels; those of another data directory are none of ours', () => {
  const record = {
    ...{ id: 'ws-a', name: 'ä "name"', owner: { user: 'u@x', agent: 'a', session: '' }, created: '2026-01-01T00:00:00Z' },
    ...{ ttlMs: 5, image: 'i:1', profile: 'default', env: { A: '=\n"' }, keep: 'own' as const, directory: '/home/me' },
  }
  const labels = labelsOf(record, '/data')
  expect(recordOf(labels, '/data')).toEqual(record)
  expect(recordOf(labels, '/other')).toBeUndefined()
  expect(recordOf({}, '/data')).toBeUndefined()
  expect(labelFilter('/data', { owner: { user: 'u@x' } }).label).toContain('atelier.owner.user=u@x')
})

test.each([
  [{ code: 'EACCES', message: 'denied' }, 'permission_denied'],
  [{ code: 'ECONNREFUSED', message: 'refused' }, 'unavailable'],
  [{ statusCode: 404, message: 'x', json: { message: 'No such image: y' } }, 'not_found'],
  [{ statusCode: 409, message: 'conflict' }, 'already_exists'],
  [{ statusCode: 500, message: 'write: no space left on device' }, 'no_space'],
  [{ name: 'AbortError', message: 'aborted' }, 'cancelled'],
  [{ message: 'strange' }, 'internal'],
  [new WorkspaceError('too_large', 'ours'), 'too_large'],
])('%j is told as %s', (error, code) => {
  const told = engineError(error, 'Container x')
  expect(told.code).toBe(code)
  if (!(error instanceof WorkspaceError)) expect(told.message).toContain('Container x')
})
