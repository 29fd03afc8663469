import { z } from 'zod'
import type { E2bSettings } from '../../backends/e2b/settings.ts'

const text = z.string().min(1)
const texts = z.record(z.string(), z.string())
/** A host looks after its sandboxes once a minute; one that is given less would be paused between. */
const SHORTEST_TIMEOUT_MS = 120_000

/** The key `e2b` of the configuration. */
export const E2B = z
  .strictObject({
    ...{ apiKey: text, domain: text, apiUrl: z.url(), sandboxUrl: z.url(), proxy: z.url(), template: text },
    timeoutMs: z.int().min(SHORTEST_TIMEOUT_MS),
    requestTimeoutMs: z.int().positive(),
    ...{ env: texts, metadata: texts, volumeMounts: texts },
    allowInternetAccess: z.boolean(),
    // What is in it the SDK checks.
    network: z.record(z.string(), z.unknown()),
    ...{ workdir: text.startsWith('/'), user: text },
  })
  .partial() as unknown as z.ZodType<E2bSettings>
