import { createHash } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../lib/log.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import type { NestedScope } from '../../workspace/nested-servers/port.ts'
import type { KeptServer } from './catalogue.ts'

/** The last lists of nested servers, by workspace and scope, in the user's data directory: `tools/list` answers from them at once. */
export interface ListStore {
  /** Undefined where nothing was kept, or what was kept can't be read. */
  load(workspace: string, scope: NestedScope): Promise<readonly KeptServer[] | undefined>
  /** Keeps lists, in the background; what stands there already is not written again. */
  save(workspace: string, scope: NestedScope, servers: readonly KeptServer[]): void
  /** Removes what was kept of a workspace that is no more, in the background. */
  forget(workspace: string): void
  /** Resolves when everything is written. */
  settled(): Promise<void>
}

/** A store in `folder`, which is made when first needed. */
export function createListStore(folder: string, logger: Logger): ListStore {
  const known = new Map<string, string>()
  let writing: Promise<void> = Promise.resolve()

  const pathOf = (workspace: string, { agent, session }: NestedScope): string => {
    return join(folder, `${digest(workspace)}-${digest(JSON.stringify([agent, session]))}.json`)
  }
  const write = async (path: string, text: string): Promise<void> => {
    try {
      await makeFolders(folder, { mode: 0o700 })
      const part = `${path}.${process.pid}.part`
      await writeFile(part, text, { mode: 0o600 })
      await rename(part, path)
    } catch (error) {
      known.delete(path)
      logger.warn({ path, error: String(error) }, 'the lists of nested servers could not be kept')
    }
  }
  const remove = async (prefix: string): Promise<void> => {
    try {
      for (const name of (await readdir(folder)).filter(name => name.startsWith(prefix))) {
        known.delete(join(folder, name))
        await rm(join(folder, name), { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        logger.warn({ folder, error: String(error) }, 'the lists of a deleted workspace could not be removed')
    }
  }

  return {
    async load(workspace, scope) {
      const path = pathOf(workspace, scope)
      try {
        const text = await readFile(path, 'utf8')
        const servers = (JSON.parse(text) as { servers: KeptServer[] }).servers
        if (!Array.isArray(servers)) throw new Error('it holds no list of servers')
        known.set(path, digest(text))
        return servers
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          logger.warn({ path, error: String(error) }, 'kept lists of nested servers could not be read')
        return undefined
      }
    },
    save(workspace, scope, servers) {
      const path = pathOf(workspace, scope)
      const kept = servers.map(({ name, expose, lists, initialize, enableTools, disableTools }) => {
        return { name, expose, lists, initialize, enableTools, disableTools }
      })
      const text = JSON.stringify({ version: 1, servers: kept })
      const written = digest(text)
      if (known.get(path) === written) return
      known.set(path, written)
      writing = writing.then(() => write(path, text))
    },
    forget(workspace) {
      writing = writing.then(() => remove(`${digest(workspace)}-`))
    },
    settled: () => writing,
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
