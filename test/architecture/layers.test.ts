import { describe, expect, it } from 'vitest'
import { readSources, type SourceFile } from './source-tree.ts'

/** From the bottom up. An import may only point to a smaller number; `stdio` and `http` do not know each other. */
const RANK: Record<string, number> = {
  lib: 0,
  gateway: 1,
  backends: 2,
  link: 3,
  workspace: 4,
  tools: 5,
  manager: 6,
  mcp: 7,
  library: 8,
  config: 9,
  services: 10,
  stdio: 11,
  http: 11,
  cli: 12,
  index: 12,
  // The bundle of cli, which the loader loads.
  server: 12,
  loader: 13,
}
const BACKENDS = ['local', 'docker', 'e2b', 'daytona', 'kubernetes', 'opensandbox']
const GATEWAY_PACKAGES = ['picomatch', 'ignore', 'fastest-levenshtein']

const layerOf = (path: string) => (path.split('/')[1] ?? '').replace(/\.(ts|cjs|json)$/, '')
const backendOf = (path: string) =>
  BACKENDS.find(name => path.startsWith(`src/backends/${name}/`) || path.startsWith(`src/backends/${name}.`))

const sources = readSources()
const byPath = new Map(sources.map(source => [source.path, source]))

function edges(): { from: string; to: string }[] {
  return sources.flatMap(source => source.local.map(to => ({ from: source.path, to })))
}

function isUpward({ from, to }: { from: string; to: string }): boolean {
  const [a, b] = [layerOf(from), layerOf(to)]
  if (!to.startsWith('src/') || a === b) return false
  return (RANK[a] ?? -1) <= (RANK[b] ?? 99)
}

/** Some import cycle that starts at `start`, as a list of files. */
function cycleFrom(start: SourceFile): string[] | undefined {
  const seen = new Set<string>()
  const walk = (path: string, trail: string[]): string[] | undefined => {
    for (const next of byPath.get(path)?.local ?? []) {
      if (next === start.path) return [...trail, next]
      if (seen.has(next)) continue
      seen.add(next)
      const found = walk(next, [...trail, next])
      if (found) return found
    }
    return undefined
  }
  return walk(start.path, [start.path])
}

function reachableFrom(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const next of byPath.get(path)?.local ?? []) reachableFrom(next, seen)
  return seen
}

describe('layers', () => {
  it('knows the layer of every source file', () => {
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.map(source => source.path).filter(path => RANK[layerOf(path)] === undefined)).toEqual([])
  })

  it('imports only files that exist', () => {
    const known = (to: string) => byPath.has(to) || to.endsWith('.json') || to === 'src/server.cjs'
    expect(edges().filter(({ to }) => !known(to))).toEqual([])
  })

  it('has no import that points up', () => {
    expect(edges().filter(isUpward)).toEqual([])
  })

  it('has no import cycle', () => {
    expect(sources.map(cycleFrom).filter(cycle => cycle !== undefined)).toEqual([])
  })

  it('keeps backends apart', () => {
    const sideways = edges().filter(({ from, to }) => backendOf(from) && backendOf(to) && backendOf(from) !== backendOf(to))
    expect(sideways).toEqual([])
  })

  it('bundles nothing but small packages into the gateway', () => {
    const allowed = (name: string) => name.startsWith('node:') || GATEWAY_PACKAGES.includes(name)
    const inGateway = new Set(
      sources.filter(source => layerOf(source.path) === 'gateway').flatMap(source => [...reachableFrom(source.path)]),
    )
    const strange = [...inGateway].flatMap(path =>
      (byPath.get(path)?.external ?? []).filter(name => !allowed(name)).map(name => ({ path, name })),
    )
    expect(strange).toEqual([])
  })

  it("keeps the MCP SDK's types inside mcp and library", () => {
    const users = sources.filter(source => source.external.some(name => name.startsWith('@modelcontextprotocol/')))
    expect(users.map(source => source.path).filter(path => !['mcp', 'library'].includes(layerOf(path)))).toEqual([])
  })

  it('loads nothing beside Node itself in the loader', () => {
    expect(byPath.get('src/loader.cjs')?.external.filter(name => !name.startsWith('node:'))).toEqual([])
  })
})
