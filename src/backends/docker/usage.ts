import { statfs } from 'node:fs/promises'
import type Dockerode from 'dockerode'
import type { EnvironmentUse } from '../backend.ts'
import { engineError } from './errors.ts'

/** Two looks at the processor's time are at least this far apart. */
const SAMPLE_MS = 200

interface Sample {
  atMs: number
  cpuNs: number
}

/** What a container uses now, by the engine's count; the share of the CPU is that since the look before. */
export function createUsage(container: Dockerode.Container, directory: string | undefined): () => Promise<EnvironmentUse> {
  let before: Sample | undefined
  const look = async (): Promise<{ stats: Dockerode.ContainerStats; sample: Sample }> => {
    const stats = await container.stats({ stream: false, 'one-shot': true })
    return { stats, sample: { atMs: Date.now(), cpuNs: stats.cpu_stats.cpu_usage?.total_usage ?? 0 } }
  }
  return async () => {
    try {
      if (before === undefined) {
        before = (await look()).sample
        await new Promise(resolve => setTimeout(resolve, SAMPLE_MS))
      }
      const { stats, sample } = await look()
      const elapsedMs = sample.atMs - before.atMs
      const cpuPercent = elapsedMs > 0 ? Math.max(0, (sample.cpuNs - before.cpuNs) / 1e6 / elapsedMs) * 100 : undefined
      if (elapsedMs >= SAMPLE_MS) before = sample
      return { ...memoryOf(stats), ...(cpuPercent === undefined ? {} : { cpuPercent }), ...(await diskOf(directory)) }
    } catch (error) {
      throw engineError(error, 'The use of the container')
    }
  }
}

/** Without what the kernel would give back at once. */
function memoryOf({ memory_stats: memory }: Dockerode.ContainerStats): Partial<EnvironmentUse> {
  if (memory?.usage === undefined) return {}
  const cache = memory.stats?.inactive_file ?? (memory.stats as { total_inactive_file?: number } | undefined)?.total_inactive_file
  return { memoryBytes: Math.max(0, memory.usage - (cache ?? 0)), memoryLimitBytes: memory.limit }
}

async function diskOf(directory: string | undefined): Promise<Partial<EnvironmentUse>> {
  if (directory === undefined) return {}
  try {
    const { bavail, bsize } = await statfs(directory)
    return { diskFreeBytes: bavail * bsize }
  } catch {
    // Not every file system tells; the figure is optional.
    return {}
  }
}
