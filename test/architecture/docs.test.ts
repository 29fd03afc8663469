import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configReference } from '../../src/config/describe.ts'
import { filesUnder, ROOT } from './source-tree.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

describe('the documents', () => {
  it('tell every setting with its variable, flag and default', () => {
    const text = read('docs/configuration.md')
    const row = ({ key, environment, flag, fallback }: ReturnType<typeof configReference>[number]) =>
      `| \`${key}\` | \`${environment}\` | ${flag ? `\`${flag}\`` : '–'} | ${fallback ? `\`${fallback}\`` : '–'} |`
    expect(
      configReference()
        .map(row)
        .filter(line => !text.includes(line)),
    ).toEqual([])
  })

  it('link only to files that exist', () => {
    const pages = [
      'README.md',
      'AGENTS.md',
      'CHANGELOG.md',
      'bench/README.md',
      ...filesUnder('docs', ['.md']),
      ...filesUnder('skills', ['.md']),
    ]
    const broken = pages.flatMap(page =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].flatMap(([, target = '']) =>
        existsSync(join(ROOT, dirname(page), target)) ? [] : [`${page}: ${target}`],
      ),
    )
    expect(broken).toEqual([])
  })

  it('give each skill a name that is its folder, and a description', () => {
    const skills = filesUnder('skills', ['SKILL.md'])
    expect(skills.length).toBeGreaterThan(0)
    for (const path of skills) {
      const header = /^---\n([\s\S]*?)\n---\n/.exec(read(path))?.[1] ?? ''
      expect(/^name: (.+)$/m.exec(header)?.[1]).toBe(dirname(path).split('/').at(-1))
      expect(/^description: (.+)$/m.exec(header)?.[1]?.length ?? 0, path).toBeGreaterThan(60)
    }
  })
})
