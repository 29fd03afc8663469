import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutOf, pathSegment, sessionFolder, skillsFolder } from '../../src/workspace/layout.ts'

describe('layout', () => {
  const layout = layoutOf('/ws')

  it("has AgentScope's folders and our own", () => {
    expect(layout).toEqual({
      mcpFile: '/ws/.mcp',
      data: '/ws/data',
      skills: '/ws/skills',
      sessions: '/ws/sessions',
      own: '/ws/.atelier',
    })
  })

  it('keeps plain ids as they are', () => {
    expect(sessionFolder(layout, 'a1b2-c3')).toBe('/ws/sessions/a1b2-c3')
    expect(sessionFolder(layout, 'Ünïcode 会话')).toBe('/ws/sessions/Ünïcode 会话')
    expect(skillsFolder(layout, '')).toBe('/ws/skills/default')
  })

  it.each([
    ['../../x', '%2E.%2F..%2Fx'],
    ['..', '%2E.'],
    ['.seed', '%2Eseed'],
    ['a/b\\c', 'a%2Fb%5Cc'],
    ['nul\0', 'nul%00'],
    ['100%', '100%25'],
  ])('encodes %j', (id, segment) => {
    expect(pathSegment(id)).toBe(segment)
  })

  it('refuses an empty id', () => {
    expect(() => pathSegment('')).toThrow('empty id')
  })

  it('always gives one segment of bounded length, a different one for each id', () => {
    const id = fc.oneof(fc.string({ minLength: 1, maxLength: 400, unit: 'binary' }), fc.string({ minLength: 1, maxLength: 6 }))
    fc.assert(
      fc.property(id, id, (one, other) => {
        const segment = pathSegment(one)
        expect(segment).not.toMatch(/[/\\\0]|^\./)
        expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(200)
        expect(segment === pathSegment(other)).toBe(one === other)
      }),
    )
  })
})
