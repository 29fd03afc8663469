import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createLocalBackend } from '../../../src/backends/local/local.ts'
import { type Logger, silentLogger } from '../../../src/lib/log.ts'
import { connectGateway } from '../../../src/link/connect.ts'
import { DEFAULT_LIMITS } from '../../../src/workspace/limits.ts'
import { SkillSeeds } from '../../../src/workspace/skills/skill-seeds.ts'
import { openWorkspace, type Workspace } from '../../../src/workspace/workspace.ts'

export interface OpenOptions {
  /** Of the one to open again; absent: a new one. */
  name?: string
  seeds?: string[]
  /** In place of Atelier's own skills; absent: a single one. */
  own?: string
  confine?: 'workdir' | 'none'
  logger?: Logger
}

/** Builds the gateway and the reader for one test file, and opens workspaces with them; `end` removes all of it. */
export class Place {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'atelier-sk-')))
  readonly #open: Workspace[] = []
  #last = 0

  constructor() {
    for (const name of ['gateway', 'reader'])
      execFileSync(process.execPath, ['scripts/build.mjs', '--only', name, '--out', join(this.folder, 'dist')])
  }

  get reader(): string {
    return join(this.folder, 'dist/reader.mjs')
  }

  /** Writes files below the folder, and gives its path. */
  write(folder: string, files: Record<string, string>): string {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.folder, folder, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    return join(this.folder, folder)
  }

  async open(options: OpenOptions = {}): Promise<Workspace> {
    this.#last += 1
    const { name = `w${this.#last}`, confine = 'none', logger = silentLogger } = options
    const dataDir = join(this.folder, 'data')
    const backend = createLocalBackend({ dataDir, runtimeBase: join(this.folder, 'run'), logger: silentLogger })
    const own = options.own ?? this.write('no-skills', { 'placeholder/SKILL.md': skillText('placeholder') })
    const seeds = new SkillSeeds({ paths: options.seeds ?? [], own, reader: { script: this.reader }, logger })
    const spec = { id: `id-${name}`, name, owner: { user: 'u', agent: '', session: '' } }
    const workspace = await openWorkspace(backend, spec, {
      limits: { ...DEFAULT_LIMITS, graceMs: 5_000, gatewayIdleMs: 2_000 },
      env: { PATH: String(process.env.PATH), HOME: this.folder, LANG: 'C.UTF-8' },
      owner: 'test',
      confine,
      goodbye: 'end',
      seeds,
      logger: silentLogger,
      connect: (environment, given) =>
        connectGateway(environment, { ...given, gatewayScript: join(this.folder, 'dist/gateway.mjs') }),
    })
    this.#open.push(workspace)
    return workspace
  }

  async end(): Promise<void> {
    await Promise.all(this.#open.map(workspace => workspace.close()))
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

/** A small `SKILL.md`. */
export function skillText(name: string, description = `Does ${name}. Use it when ${name} is asked for.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nDo ${name}.\n`
}

/** Names in a folder, sorted; none where there is no such folder. */
export function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}
