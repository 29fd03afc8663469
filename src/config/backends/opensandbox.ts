import { z } from 'zod'
import type { OpenSandboxSettings } from '../../backends/opensandbox/settings.ts'
import { duration } from '../values.ts'

const text = z.string().min(1)
const texts = z.record(text, z.string())
/** In the server's own words: it checks them. */
const fields = z.record(text, z.unknown())
/** A host looks after its sandboxes once a minute; one that is given less would be removed between. */
const SHORTEST_TIMEOUT_MS = 120_000

/** The key `opensandbox` of the configuration. */
export const OPENSANDBOX = z
  .strictObject({
    ...{ apiKey: text, domain: text, protocol: z.enum(['http', 'https']), useServerProxy: z.boolean(), headers: texts },
    ...{ requestTimeoutMs: duration(1_000).schema, readyTimeoutMs: duration(1_000).schema },
    ...{ timeoutMs: duration(SHORTEST_TIMEOUT_MS).schema, ttlMs: duration(60_000).schema },
    ...{ image: text, imageAuth: z.strictObject({ username: text, password: text }), entrypoint: z.array(text).min(1) },
    ...{ env: texts, metadata: texts, resources: texts, extensions: texts },
    ...{ networkPolicy: fields, volumes: z.array(fields), platform: fields, credentialProxy: fields },
    ...{ secureAccess: z.boolean(), accessToken: text, workdir: text.startsWith('/') },
  })
  .partial() as unknown as z.ZodType<OpenSandboxSettings>
