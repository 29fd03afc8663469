import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { quote } from './quote.ts'
import type { FoundShell } from './shell-finder.ts'

/**
 * Starts a process that goes on reading a pipe in this one's place, into the log up to `maxBytes`, then into nothing; it outlives this
 * process. Takes over `fd`. Resolves when the pipe's last writer is gone.
 */
export function startForwarder(fd: number, options: { logPath: string; maxBytes: number; shell: FoundShell }): Promise<void> {
  // cat is cut off by a file size limit, since head would hold back what comes slowly; bash counts in KiB, POSIX shells in half of it
  const blocks = Math.max(1, Math.floor(options.maxBytes / (options.shell.kind === 'bash' ? 1024 : 512)))
  const script = `(ulimit -f ${blocks}; exec cat >> ${quote(options.logPath)}) 2>/dev/null; exec cat > /dev/null`
  try {
    const child = spawn(options.shell.path, ['-c', script], {
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
      stdio: [fd, 'ignore', 'ignore'],
    })
    child.unref()
    return new Promise(resolve => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
  } finally {
    closeSync(fd)
  }
}
