import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesUnder, ROOT } from './source-tree.ts'

/** Folders of `test` that mirror no folder of `src`. */
const OWN = ['architecture', 'requirements', 'support', 'fixtures', 'examples', 'stand-ins']
const TEXT_FOLDERS = ['src', 'test', 'scripts', 'bench', 'docs', 'skills', 'examples', '.ci']
const TOP_FILES = ['README.md', 'AGENTS.md', 'CHANGELOG.md', 'package.json', 'mcp.json.example', 'vitest.config.ts']

/** Words that only make sense where the code was written. Put together here, so that this file holds none of them. */
const ELSEWHERE = [
  new RegExp(`\\b${'iss'}${'ue'} ?#?\\d+\\b`, 'i'),
  new RegExp(`/${'wo'}rk/(main|shared|\\.library)`),
  new RegExp(`/tmp/${'te'}am\\b`),
  new RegExp(`\\b${'ses'}sion \\d+ of (the )?work`, 'i'),
  new RegExp(`\\b${'buil'}der [A-H]\\b`, 'i'),
  new RegExp(`\\b(${'SCENA'}RIOS|${'BACK'}ENDS|${'AGENT'}SCOPE|${'MCP-'}SDK|${'DES'}IGN|${'SHE'}LL)\\.md\\b|\\b${'DES'}IGN §`),
]

/** A test lies in the folder of what it tests; one that tests a single top-level file may lie in a folder of its name. */
function mirrors(path: string): boolean {
  const folder = dirname(path).replace(/^test/, 'src')
  if (folder === 'src') return existsSync(join(ROOT, `src/${basename(path).replace(/(\.[a-z-]+)?\.test\.ts$/, '')}.ts`))
  return existsSync(join(ROOT, folder)) || existsSync(join(ROOT, `${folder}.ts`))
}

describe('the tree', () => {
  it('has its tests where the sources are', () => {
    const tests = filesUnder('test', ['.test.ts']).filter(path => !OWN.includes(path.split('/')[1] ?? ''))
    expect(tests.filter(path => !mirrors(path))).toEqual([])
  })

  it('speaks of nothing that only its makers know', () => {
    const files = [...TEXT_FOLDERS.flatMap(folder => filesUnder(folder)), ...TOP_FILES].filter(path => {
      const full = join(ROOT, path)
      return existsSync(full) && statSync(full).size < 1_000_000
    })
    expect(files.length).toBeGreaterThan(0)
    const found = files.flatMap(path => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      return ELSEWHERE.flatMap(word => {
        const match = word.exec(text)
        return match ? [`${path}: ${match[0]}`] : []
      })
    })
    expect(found).toEqual([])
  })
})
