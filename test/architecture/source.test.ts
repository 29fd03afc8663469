import { describe, expect, it } from 'vitest'
import { readSources, type SourceFile, withoutComments } from './source-tree.ts'

const MAX_LINES = 250
const sources = readSources()

/** `path:line` of every line of code that matches. */
function hits(files: SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    withoutComments(text)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  )
}

/** Programs for other processes stand in template strings. */
const withoutTemplates = (text: string) => text.replace(/`[^`]*`/g, template => template.replace(/[^\n]/g, ' '))

const mayTouchProcess = ({ path }: SourceFile) =>
  /^src\/(config|cli)(\.ts$|\/)/.test(path) || path === 'src/gateway/main.ts' || path === 'src/loader.cjs'

describe('source files', () => {
  it(`have at most ${MAX_LINES} lines`, () => {
    const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > MAX_LINES)
    expect(long.map(({ path }) => path)).toEqual([])
  })

  it('never write to the console', () => {
    const code = sources.map(source => ({ ...source, text: withoutTemplates(source.text) }))
    expect(hits(code, /\bconsole\s*\.\s*\w+\(/)).toEqual([])
  })

  it('read the environment and exit only at the entry points', () => {
    expect(
      hits(
        sources.filter(source => !mayTouchProcess(source)),
        /\bprocess\s*\.\s*(env|exit|exitCode)\b/,
      ),
    ).toEqual([])
  })

  it("make folders by `makeFolders`: Node's own recursive call may never return", () => {
    expect(hits(sources, /\bmkdir(Sync)?\([^;]*recursive/)).toEqual([])
  })

  it('have named exports only', () => {
    expect(hits(sources, /^\s*export\s+default\b|\bas\s+default\b/)).toEqual([])
  })

  it('are named in kebab-case', () => {
    expect(sources.map(({ path }) => path).filter(path => !/^src(\/[a-z0-9]+(-[a-z0-9]+)*)+\.(ts|cjs)$/.test(path))).toEqual([])
  })

  it('leave no placeholder behind', () => {
    expect(hits(sources, /^export declare (function|const|class)\b/)).toEqual([])
  })
})
