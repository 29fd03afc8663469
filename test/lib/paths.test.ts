import { describe, expect, it } from 'vitest'
import { absolutePath, contains, expandHome } from '../../src/lib/paths.ts'

describe('contains', () => {
  it.each([
    ['/root', '/root', true],
    ['/root', '/root/a', true],
    ['/root', '/root-evil', false],
    ['/root', '/', false],
    ['/', '/anything', true],
    ['/root/', '/root/a', true],
    ['/root', '/other/root/a', false],
  ])('%s holds %s: %s', (root, path, expected) => {
    expect(contains(root, path)).toBe(expected)
  })
})

describe('expandHome', () => {
  it('fills in the home directory only at the start', () => {
    expect(expandHome('~', '/home/u')).toBe('/home/u')
    expect(expandHome('~/a', '/home/u')).toBe('/home/u/a')
    expect(expandHome('~other/a', '/home/u')).toBe('~other/a')
    expect(expandHome('a/~', '/home/u')).toBe('a/~')
    expect(expandHome('~/a', undefined)).toBe('~/a')
  })
})

describe('absolutePath', () => {
  it('resolves against the base, and normalises', () => {
    expect(absolutePath('a/../b', '/base')).toBe('/base/b')
    expect(absolutePath('/x/./y', '/base')).toBe('/x/y')
    expect(absolutePath('~/y', '/base', '/home/u')).toBe('/home/u/y')
  })
})
