import type { Lease } from '../manager/manager.ts'
import type { Files, Search, Shell } from '../workspace/ports.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** The ports of a workspace that is held for each call alone, and found again when it was closed between two. */
export interface LeasedPorts {
  shell: Shell
  files: Files
  search: Search
}

/** Ports over whatever `acquire` gives at the time of each call. */
export function leasedPorts(acquire: () => Promise<Lease>, workdir: string): LeasedPorts {
  const held = async <T>(use: (workspace: Workspace) => Promise<T>): Promise<T> => {
    using lease = await acquire()
    return await use(lease.workspace)
  }
  return {
    shell: {
      run: (...args) => held(({ shell }) => shell.run(...args)),
      jobs: (...args) => held(({ shell }) => shell.jobs(...args)),
      readJob: (...args) => held(({ shell }) => shell.readJob(...args)),
      inputJob: (...args) => held(({ shell }) => shell.inputJob(...args)),
      killJob: (...args) => held(({ shell }) => shell.killJob(...args)),
    },
    files: {
      workdir,
      read: (...args) => held(({ files }) => files.read(...args)),
      write: (...args) => held(({ files }) => files.write(...args)),
      edit: (...args) => held(({ files }) => files.edit(...args)),
      stat: (...args) => held(({ files }) => files.stat(...args)),
      list: (...args) => held(({ files }) => files.list(...args)),
      bytes: (...args) => held(({ files }) => files.bytes(...args)),
      get: (...args) => held(({ files }) => files.get(...args)),
      put: (...args) => held(({ files }) => files.put(...args)),
      remove: (...args) => held(({ files }) => files.remove(...args)),
      mkdir: (...args) => held(({ files }) => files.mkdir(...args)),
    },
    search: {
      glob: (...args) => held(({ search }) => search.glob(...args)),
      grep: (...args) => held(({ search }) => search.grep(...args)),
    },
  }
}
