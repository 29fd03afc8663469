import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { createFileService } from '../../../src/gateway/files/file-service.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import type { GatewayCalls } from '../../../src/workspace/environment-link.ts'
import { createFiles } from '../../../src/workspace/files.ts'
import { DEFAULT_LIMITS, type WorkspaceLimits } from '../../../src/workspace/limits.ts'
import type { Files } from '../../../src/workspace/ports.ts'
import type { Viewer } from '../../../src/workspace/reading/port.ts'
import { createViewer } from '../../../src/workspace/reading/viewer.ts'

// A reader is a process of its own: on a busy machine its start alone takes a while.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url))

/** A folder with files, the gateway's own file calls on it, and the reader program as it is built. */
export class Place {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-rd-')))
  readonly files: Files
  readonly viewer: Viewer
  /** Bytes that were fetched. */
  fetched = 0

  /** `packages`: the optional ones that the reader finds; absent: all. */
  constructor({ packages, limits = {} }: { packages?: string[]; limits?: Partial<WorkspaceLimits> } = {}) {
    execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'file-reader', '--out', join(this.folder, 'dist')])
    if (packages === undefined) symlinkSync(PACKAGES, join(this.folder, 'node_modules'))
    for (const name of packages ?? []) {
      mkdirSync(dirname(join(this.folder, 'node_modules', name)), { recursive: true })
      symlinkSync(join(PACKAGES, name), join(this.folder, 'node_modules', name))
    }
    const { handlers } = createFileService({ workdir: this.folder, log: silentLogger })
    const call = async (method: keyof typeof handlers, params: never, { signal }: { signal?: AbortSignal } = {}) => {
      const context = { link: { env: {} }, signal: signal ?? new AbortController().signal } as never
      const result = await handlers[method](params, context)
      if (method === 'file.bytes') this.fetched += Buffer.byteLength((result as unknown as { data: string }).data, 'base64')
      return result
    }
    const all = { ...DEFAULT_LIMITS, ...limits }
    const place = { confine: 'none', workdir: this.folder, root: this.folder } as const
    this.files = createFiles({ call } as unknown as GatewayCalls, place, all)
    this.viewer = createViewer(this.files, { limits: all, script: join(this.folder, 'dist/file-reader.mjs') })
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(join(this.folder, name), content)
    return name
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
