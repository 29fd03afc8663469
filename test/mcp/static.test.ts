import { describe, expect, it } from 'vitest'
import { FILE_ICONS, SKILL_ICONS } from '../../src/mcp/icons.ts'
import { CAPABILITIES, INSTRUCTIONS, SERVER_INFO } from '../../src/mcp/static.ts'

describe('what is static', () => {
  it('has instructions of fewer than 1 500 characters', () => {
    expect(INSTRUCTIONS.length).toBeLessThan(1_500)
  })

  it.each([...SERVER_INFO.icons, ...FILE_ICONS, ...SKILL_ICONS])('has icons that are whole', ({ src, mimeType }) => {
    const [head, data = ''] = src.split(',')
    expect(head).toBe(`data:${mimeType};base64`)
    expect(Buffer.from(data, 'base64').toString('utf8')).toMatch(/^<svg xmlns="[^"]+" [^>]*>.*<\/svg>$/)
  })

  it('declares only what is served', () => {
    expect(Object.keys(CAPABILITIES).sort()).toEqual([
      'completions',
      'extensions',
      'logging',
      'prompts',
      'resources',
      'tasks',
      'tools',
    ])
    expect(CAPABILITIES.resources).toEqual({ subscribe: true, listChanged: true })
  })
})
