import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Agent, type ClientRequestArgs } from 'node:http'
import { Duplex } from 'node:stream'
import { WorkspaceError } from '../../lib/errors.ts'

/** Of the way to the other host, in whole seconds as `ssh` takes it. */
const CONNECT_SECONDS = 15
/** A connection that nobody uses is kept for the next request. */
const KEPT_MS = 5_000
const STDERR_BYTES = 2_000

/**
 * Connections to the engine of another host, as the docker command makes them: by the program `ssh`, with the user's own
 * configuration, keys and known hosts, and `docker system dial-stdio` there. It never asks anybody: what would be a question fails.
 */
export function createSshAgent(url: URL): Agent {
  const argv = sshArguments(url)
  const agent = new Agent({ keepAlive: true, timeout: KEPT_MS })
  return Object.assign(agent, { createConnection: (_: ClientRequestArgs) => new SshStream(argv, url.href) })
}

/** Arguments of `ssh` for `ssh://[user@]host[:port][/socket]`. */
export function sshArguments({ username, hostname, port, pathname }: URL): string[] {
  const options = ['-o', 'BatchMode=yes', '-o', `ConnectTimeout=${CONNECT_SECONDS}`, '-T']
  const user = username === '' ? [] : ['-l', decodeURIComponent(username)]
  const socket = decodeURIComponent(pathname).replace(/\/$/, '')
  const command = socket === '' ? 'docker' : `docker --host '${`unix://${socket}`.replaceAll("'", "'\\''")}'`
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return [...options, ...user, ...(port === '' ? [] : ['-p', port]), '--', host, `${command} system dial-stdio`]
}

/** What stdin and stdout of one `ssh` carry; where that fails, its error says what `ssh` said. Destroying it ends the program. */
class SshStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams
  #said = ''
  #idle: NodeJS.Timeout | undefined

  constructor(argv: readonly string[], address: string) {
    super()
    this.#child = spawn('ssh', argv, { stdio: 'pipe' })
    const { stdin, stdout, stderr } = this.#child
    stdout.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) stdout.pause()
    })
    stderr.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk}`.slice(-STDERR_BYTES)
    })
    // The program's end tells more.
    stdin.on('error', () => {})
    this.#child.once('error', error => this.destroy(notStarted(error)))
    this.#child.once('close', (code, signal) => {
      if (code === 0) this.push(null)
      else this.destroy(refused(this.#said, { end: code === null ? `by ${signal}` : `with exit code ${code}`, address }))
    })
  }

  override _read(): void {
    this.#child.stdout.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // What can't be written any more is told by the program's end.
    this.#child.stdin.write(chunk, () => done())
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#child.stdin.end(() => done())
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#idle)
    this.#child.kill()
    done(error)
  }

  /** For the agent, which ends an unused connection at its `timeout`. */
  setTimeout(ms: number): this {
    clearTimeout(this.#idle)
    if (ms > 0) this.#idle = setTimeout(() => this.emit('timeout'), ms).unref()
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  /** An unused connection keeps nobody from ending. */
  unref(): this {
    for (const part of this.#parts()) part.unref?.()
    return this
  }

  ref(): this {
    for (const part of this.#parts()) part.ref?.()
    return this
  }

  #parts(): { ref?(): void; unref?(): void }[] {
    const { stdin, stdout, stderr } = this.#child
    return [this.#child, stdin as object, stdout as object, stderr as object]
  }
}

function notStarted(error: Error): WorkspaceError {
  return new WorkspaceError(
    'unsupported',
    `An engine at ssh:// needs the program ssh, which was not started: ${error.message}.`,
    {
      hint: 'Install an OpenSSH client (openssh-client).',
      cause: error,
    },
  )
}

function refused(said: string, { end, address }: { end: string; address: string }): WorkspaceError {
  const words =
    said
      .trim()
      .split(/\s*\n\s*/)
      .join(' ') || `ssh ended ${end}`
  const what = `The way to the engine at ${address}`
  if (/host key verification failed|host identification has changed/i.test(words)) {
    return new WorkspaceError('unavailable', `${what}: its host key is not known: ${words}`, {
      hint: 'Compare the key of the host, and add it to ~/.ssh/known_hosts: connect once by hand with ssh.',
    })
  }
  if (/permission denied \(|too many authentication failures/i.test(words)) {
    return new WorkspaceError('unauthenticated', `${what}: no key was accepted: ${words}`, {
      hint: 'ssh has to get there without a question: load a key into the agent (ssh-add), or name one in ~/.ssh/config.',
    })
  }
  return new WorkspaceError('unavailable', `${what} ended: ${words}`, {
    hint: 'See whether it goes by hand, over the same ssh: docker version. The docker command is needed there too.',
  })
}
