import { z } from 'zod'
import type { DaytonaSettings } from '../../backends/daytona/settings.ts'

const text = z.string().min(1)
const texts = z.record(z.string(), z.string())
const minutes = z.int().min(0)
const ms = z.int().min(1_000)
const size = z.number().positive()

/** The key `daytona` of the configuration. */
export const DAYTONA = z
  .strictObject({
    ...{ apiKey: text, jwtToken: text, organizationId: text, apiUrl: z.url(), target: text },
    ...{ snapshot: text, image: text, user: text, env: texts, labels: texts },
    resources: z.strictObject({ cpu: size, memory: size, disk: size, gpu: size }).partial(),
    volumes: z.array(z.strictObject({ volumeId: text, mountPath: text, subpath: text.optional() })),
    network: z.strictObject({ blockAll: z.boolean(), allow: z.array(text), domains: z.array(text), proxyUrl: z.url() }).partial(),
    workdir: z.string().regex(/^\/[^\0\n\r]+$/, 'an absolute path inside'),
    namespace: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/, 'up to 32 small letters, digits and dashes'),
    ...{ autoStopMinutes: minutes, autoArchiveMinutes: minutes, startTimeoutMs: ms, requestTimeoutMs: ms },
  })
  .partial() as unknown as z.ZodType<DaytonaSettings>
