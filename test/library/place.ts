import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LibraryDefaults } from '../../src/library/defaults.ts'
import { gatewayBoot } from '../../src/link/boot.ts'
import { connectGateway } from '../../src/link/connect.ts'
import { openWorkspace } from '../../src/workspace/workspace.ts'

/** A place on disk for programs that use the library, with a gateway built for it. */
export function createPlace() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'at-lib-')))
  execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'gateway', '--out', base])
  const project = join(base, 'project')
  mkdirSync(project)
  const gatewayScript = join(base, 'gateway.mjs')
  const read = (): LibraryDefaults => ({
    dataDir: join(base, 'data'),
    runtimeBase: join(base, 'run'),
    hostEnv: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: base, FROM_HOST: 'yes' },
    open: (backend, spec, options) =>
      openWorkspace(
        backend,
        { ...spec, boot: gatewayBoot(options.limits, gatewayScript) },
        {
          ...options,
          connect: (environment, more) => connectGateway(environment, { ...more, gatewayScript }),
        },
      ),
  })
  return { base, project, read, remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) }
}
