import { z } from 'zod'
import type { DockerProfile } from '../backends/docker/profile.ts'
import { size } from './values.ts'

const path = z.string().regex(/^(\/|[A-Za-z]:[\\/])/, 'must be an absolute path')
const texts = z.record(z.string(), z.string())

const SHAPE = z.strictObject({
  user: z.string().min(1),
  env: texts,
  cpus: z.number().positive(),
  memory: size(6 * 1024 ** 2).schema,
  pids: z.int().min(16),
  network: z.string().min(1),
  mounts: z.array(z.strictObject({ source: path, target: path, readOnly: z.boolean().optional() })),
  init: z.boolean(),
  readOnlyRoot: z.boolean(),
  capDrop: z.array(z.string().min(1)),
  securityOpt: z.array(z.string().min(1)),
  tmpfs: texts,
  ephemeral: z.boolean(),
})

/** Profiles by name, as the operator writes them: sizes may have units, and an unknown field is refused. */
export const PROFILES: z.ZodType<Record<string, DockerProfile>> = z.record(
  z.string().min(1),
  SHAPE.partial().transform(({ memory, ...profile }) => {
    return { ...profile, ...(memory === undefined ? {} : { memoryBytes: memory }) } as DockerProfile
  }),
)
