import { sleep } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { Environment, EnvironmentUse } from '../backend.ts'
import { WORKDIR } from './pod-spec.ts'

/** Two looks at the processor's time are at least this far apart. */
const SAMPLE_MS = 200
const LIMIT_MS = 10_000
/** A version 1 group without a limit has about this one. */
const NO_LIMIT = 2 ** 60

/** What the container's own control group says, in either version, and the space left on the volume. */
const LOOK = `cd /sys/fs/cgroup || exit 1
if [ -f memory.current ]; then
  echo "used $(cat memory.current)"; echo "limit $(cat memory.max)"
  grep '^inactive_file ' memory.stat; grep '^usage_usec ' cpu.stat
else
  echo "used $(cat memory/memory.usage_in_bytes)"; echo "limit $(cat memory/memory.limit_in_bytes)"
  sed -n 's/^total_inactive_file/inactive_file/p' memory/memory.stat
  echo "usage_nsec $(cat cpuacct/cpuacct.usage 2>/dev/null || cat cpu,cpuacct/cpuacct.usage)"
fi
df -Pk ${WORKDIR} | { read -r _; read -r _ _ _ free _; echo "free $free"; }`

interface Sample {
  atMs: number
  cpuMs: number
  values: ReadonlyMap<string, number>
}

/** What a Pod's container uses now; the share of the CPU is that since the look before. */
export function createUsage(exec: Environment['exec']): () => Promise<EnvironmentUse> {
  let before: Sample | undefined
  return async () => {
    if (before === undefined) {
      before = await look(exec)
      await sleep(SAMPLE_MS)
    }
    const now = await look(exec)
    const elapsedMs = now.atMs - before.atMs
    const cpuPercent = elapsedMs > 0 ? (Math.max(0, now.cpuMs - before.cpuMs) / elapsedMs) * 100 : undefined
    if (elapsedMs >= SAMPLE_MS) before = now
    const { values } = now
    const [limit, free] = [values.get('limit'), values.get('free')]
    return {
      ...(cpuPercent === undefined ? {} : { cpuPercent }),
      memoryBytes: Math.max(0, (values.get('used') ?? 0) - (values.get('inactive_file') ?? 0)),
      ...(limit === undefined || limit > NO_LIMIT ? {} : { memoryLimitBytes: limit }),
      ...(free === undefined ? {} : { diskFreeBytes: free * 1024 }),
    }
  }
}

async function look(exec: Environment['exec']): Promise<Sample> {
  const { exitCode, stdout, stderr } = await exec(['sh', '-c', LOOK], { timeoutMs: LIMIT_MS })
  if (exitCode !== 0) {
    throw new WorkspaceError('unavailable', `The use of the Pod can't be read: ${Buffer.from(stderr).toString().trim()}`)
  }
  const values = new Map<string, number>()
  for (const line of Buffer.from(stdout).toString().split('\n')) {
    const [name = '', value = ''] = line.split(' ')
    if (/^\d+$/.test(value)) values.set(name, Number(value))
  }
  const cpuMs = (values.get('usage_usec') ?? 0) / 1e3 + (values.get('usage_nsec') ?? 0) / 1e6
  return { atMs: Date.now(), cpuMs, values }
}
