import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { createServices } from '../services.ts'
import { parseCopyPath } from './copy-path.ts'
import { type Copied, copyIn, copyOut } from './copy-tree.ts'
import { ProgressLine, type ProgressOutput } from './progress-line.ts'

/** Copies between this host and a workspace, one of which each path names; gives what to print. What runs in the workspace goes on. */
export async function copyFiles(config: Config, [from, to]: readonly [string, string], output: ProgressOutput): Promise<string> {
  const [source, target] = [parseCopyPath(from), parseCopyPath(to)]
  const workspace = source.workspace ?? target.workspace
  if (workspace === undefined || (source.workspace !== undefined && target.workspace !== undefined)) {
    throw new WorkspaceError(
      'invalid_argument',
      `One of ${from} and ${to} has to be in a workspace, and the other on this host.`,
      {
        hint: 'Write WORKSPACE:PATH for the one in the workspace; :PATH is in the default one.',
      },
    )
  }
  await using services = await createServices({ ...config, allowLocal: true })
  const { user, agent, session } = config
  using lease = await services.manager.acquire({ user, agent, session }, workspace === '' ? {} : { ref: workspace })
  const { files } = lease.workspace
  const line = new ProgressLine(output)
  const options = { onFile: line.file.bind(line), onBytes: line.add.bind(line) }
  try {
    const copied = await (source.workspace === undefined
      ? copyIn(files, resolve(source.path), target.path, options)
      : copyOut(files, source.path, resolve(target.path) + (/[/\\]$/.test(target.path) ? '/' : ''), options))
    return summary(copied)
  } finally {
    line.end()
  }
}

function summary({ files, bytes, skipped }: Copied): string {
  const left = skipped.map(path => `Not copied, for it is no file: ${path}\n`).join('')
  return `${left}Copied ${files} ${files === 1 ? 'file' : 'files'}, ${bytes} bytes, checksums compared.\n`
}
