import { spawn } from 'node:child_process'
import { ROOT } from './ensure.mjs'

/** Runs a program in the foreground and hands signals on, so that Ctrl-C ends it as if it had been started directly; gives its exit code. */
export async function foreground(command, args, env = process.env) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env })
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)))
  })
}
