import { stat } from 'node:fs/promises'

/**
 * A node program for a Linux with glibc and the CPU (`x64`, `arm64`), with its size in bytes: this host's own where it fits, else
 * npm's, kept in `cacheFolder`. Throws `unavailable`.
 */
export async function nodeFor(cpu: string, cacheFolder: string): Promise<{ file: string; size: number }> {
  const file = ownNodeFits(cpu) ? process.execPath : await fetchedNode(cpu, cacheFolder)
  return { file, size: (await stat(file)).size }
}

async function fetchedNode(cpu: string, cacheFolder: string): Promise<string> {
  // What reads archives is loaded only where one has to be read.
  const { prebuiltNode } = await import('./prebuilt-node.ts')
  return prebuiltNode(`linux-${cpu}`, cacheFolder)
}

/** Whether this process's own program runs elsewhere: same platform and CPU, glibc, and in one file. */
function ownNodeFits(cpu: string): boolean {
  if (process.platform !== 'linux' || process.arch !== cpu) return false
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  const { node_shared } = process.config.variables as { node_shared?: boolean | string }
  return header.glibcVersionRuntime !== undefined && (node_shared === undefined || String(node_shared) === 'false')
}
