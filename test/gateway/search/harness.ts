import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import type { Params } from '../../../src/gateway/protocol.ts'
import { findOnPath } from '../../../src/gateway/search/ripgrep.ts'
import { createSearchService, type SearchServiceOptions } from '../../../src/gateway/search/search-service.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { callContext, freshDirectory } from '../files/harness.ts'

export { failure } from '../files/harness.ts'

/** The `rg` of this machine: on the path, else the one that Atelier depends on; null where there is none. */
export async function installedRipgrep(): Promise<string | null> {
  const bundled = join(process.cwd(), 'node_modules', '@vscode', 'ripgrep', 'bin')
  return (await findOnPath([process.env.PATH ?? '', bundled].join(delimiter))) ?? null
}

/** Writes files, given as path → content, under a directory. */
export async function plant(directory: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
}

/** A search service on a fresh directory with these files, with short forms of its calls that give relative paths. */
export async function searchBench(files: Record<string, string | Uint8Array>, options: Partial<SearchServiceOptions> = {}) {
  const workdir = options.workdir ?? (await freshDirectory())
  await plant(workdir, files)
  const service = createSearchService({ timeoutMs: 20_000, log: silentLogger, ...options, workdir })
  const relative = (path: string): string => (path.startsWith(`${workdir}/`) ? path.slice(workdir.length + 1) : path)
  const grep = async (pattern: string, more: Partial<Params<'search.grep'>> = {}, signal?: AbortSignal) => {
    const params = { path: '.', pattern, mode: 'content' as const, limit: 250, offset: 0, maxLineBytes: 500, ...more }
    const result = await service.handlers['search.grep'](params, callContext(signal === undefined ? {} : { signal }))
    return {
      ...result,
      files: result.files.map(relative),
      counts: result.counts.map(({ path, count }) => ({ path: relative(path), count })),
      lines: result.lines.map(line => ({ ...line, path: relative(line.path) })),
    }
  }
  const glob = async (pattern: string, more: Partial<Params<'search.glob'>> = {}) => {
    const result = await service.handlers['search.glob']({ path: '.', pattern, limit: 100, ...more }, callContext())
    return { ...result, files: result.files.map(relative) }
  }
  return { workdir, service, grep, glob, at: (name: string) => join(workdir, name) }
}
