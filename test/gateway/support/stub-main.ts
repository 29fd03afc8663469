import { serve } from '../../../src/gateway/serve.ts'
import { createStubServices } from './stub-services.ts'

// A gateway with stub services, bundled by the tests: `serve --dir D --workdir W --root R --idle-ms N …`.
const value = (name: string, fallback = ''): string => process.argv[process.argv.indexOf(`--${name}`) + 1] ?? fallback
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(signal))
const daemon = await serve(
  {
    ...{ dir: value('dir'), workdir: value('workdir'), root: value('root'), idleMs: Number(value('idle-ms')) },
    ...{ logMaxBytes: 1e6, jobMaxLifeMs: 1e6, mainProcess: process.argv.includes('--main-process'), stop: stop.signal },
  },
  createStubServices,
)
await daemon?.ended
process.exit(0)
