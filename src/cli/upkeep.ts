import type { Config } from '../config.ts'
import { WorkspaceError } from '../lib/errors.ts'
import type { Request } from './program.ts'

/** Where the commands read and write. */
export interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

/** Runs `ls`, `rm`, `prune` or `doctor`; resolves to the exit code. */
export async function lookAfter(request: Request, config: Config, { stdin, stdout, stderr }: Streams): Promise<number> {
  const { all = false, json = false, yes = false, dryRun = false } = request.choices ?? {}
  const print = ({ out, err, code }: { out: string; err: string; code: number }): number => {
    stdout.write(out)
    stderr.write(err)
    return code
  }
  switch (request.command) {
    case 'ls': {
      const { listWorkspaces } = await import('./ls-command.ts')
      return print(await listWorkspaces(config, { all, json }))
    }
    case 'rm': {
      const { removeWorkspaces } = await import('./rm-command.ts')
      return print(await removeWorkspaces(config, { refs: request.refs ?? [], yes, input: stdin, output: stderr }))
    }
    case 'prune': {
      const { pruneBackends } = await import('./prune-command.ts')
      return print(await pruneBackends(config, { dryRun, json, output: stderr }))
    }
    default: {
      const { diagnose } = await import('./doctor-command.ts')
      const write = (text: string) => void stdout.write(text)
      return interruptible(signal => diagnose(config, { backend: request.backend, json, write, output: stderr, signal }))
    }
  }
}

/** Lets what is under way clean up at the first signal; a second one ends it at once. */
async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort(new WorkspaceError('cancelled', 'It was interrupted.'))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    return await run(controller.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
